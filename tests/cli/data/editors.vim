" Highlighting, :make and formatting of tools/editors/vim: vim -es -u NONE --cmd 'let root = ... | let out = ...' -S editors.vim
execute 'set runtimepath^=' . root . '/tools/editors/vim'
filetype plugin indent on
syntax on
let text = ['# A remark.', 'kernel k( x:f32[] ) { x[threadIdx.x] = yy(1.5) }']
call writefile(text, out . '.knl')
execute 'edit ' . out . '.knl'
let seen = []
for word in ['remark', 'kernel', 'f32', 'threadIdx', 'yy', '1.5']
  call search(word, 'w')
  call add(seen, word . ' ' . synIDattr(synID(line('.'), col('.'), 1), 'name'))
endfor
silent make!
for e in getqflist()
  call add(seen, e.lnum . ':' . e.col . ' ' . e.type . ' ' . e.text)
endfor
normal gggqG
call writefile(seen + getline(1, '$'), out)
qa!
