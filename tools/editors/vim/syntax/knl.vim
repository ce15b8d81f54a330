" Vim syntax: kjit's kernels
if exists('b:current_syntax')
  finish
endif

syntax keyword knlDeclaration const fn kernel run let var param record enum type use test launch requires as
syntax keyword knlStatement break continue return with
syntax keyword knlConditional if elif else
syntax keyword knlRepeat for while in
syntax keyword knlOperator and or not
syntax keyword knlBoolean true false
syntax keyword knlType bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 c64 c128
syntax match knlType '\<\([iu]\(8\|16\|32\|64\)\|b\?f16\|f32\|f64\)x[234]\>'
syntax keyword knlIndex threadIdx blockIdx blockDim gridDim warpsize laneid
syntax match knlAttribute '@\h\w*'
syntax match knlCall '\h\w*\ze\s*('
syntax match knlNumber '\<\(0[xX][0-9a-fA-F_]\+\|0[bB][01_]\+\|0[oO][0-7_]\+\|\d[0-9_]*\(\.[0-9_]*\)\?\([eE][+-]\?[0-9_]\+\)\?[jJ]\?\)'
syntax match knlEscape '\\.' contained
syntax region knlString start=+[fF]\?"+ skip=+\\.+ end=+"+ oneline contains=knlEscape
syntax region knlString start=+'+ skip=+\\.+ end=+'+ oneline contains=knlEscape
syntax keyword knlTodo TODO FIXME XXX contained
syntax match knlComment '#.*' contains=knlTodo,@Spell

highlight default link knlDeclaration Keyword
highlight default link knlStatement Statement
highlight default link knlConditional Conditional
highlight default link knlRepeat Repeat
highlight default link knlOperator Operator
highlight default link knlBoolean Boolean
highlight default link knlType Type
highlight default link knlIndex Identifier
highlight default link knlAttribute PreProc
highlight default link knlCall Function
highlight default link knlNumber Number
highlight default link knlEscape SpecialChar
highlight default link knlString String
highlight default link knlTodo Todo
highlight default link knlComment Comment

let b:current_syntax = 'knl'
