" Vim compiler: kjit check
if exists('current_compiler')
  finish
endif
let current_compiler = 'kjit'
CompilerSet makeprg=kjit\ check\ %:S
CompilerSet errorformat=%f:%l:%c:\ %trror:\ %m,%f:%l:%c:\ %tarning:\ %m,%f:%l:%c:\ %m,%-G%.%#
