" Vim filetype plugin: kjit's kernels
if exists('b:did_ftplugin')
  finish
endif
let b:did_ftplugin = 1
setlocal commentstring=#\ %s comments=:# expandtab shiftwidth=4 softtabstop=4 cindent
setlocal cinkeys-=0# cinoptions+=(0,W4,#1
setlocal formatprg=kjit\ fmt\ -
compiler kjit
let b:undo_ftplugin = 'setlocal commentstring< comments< expandtab< shiftwidth< softtabstop< cindent< cinkeys< cinoptions< formatprg< makeprg< errorformat<'
