autocmd BufRead,BufNewFile *.knl setfiletype knl
