" Vim filetype detection: .knl files are kjit's kernels
autocmd BufRead,BufNewFile *.knl setfiletype knl
