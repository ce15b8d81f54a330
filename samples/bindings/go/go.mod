module kjit.example

go 1.19
