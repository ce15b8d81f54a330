// What takes what kernels print replaces itself, and closes the context that calls it: both are refused, and what it has stays.
package main

import (
	"fmt"
	"strings"

	"kjit.example/kjit"
)

func main() {
	ctx, err := kjit.Open("cpu")
	if err != nil {
		panic(err)
	}
	module, err := ctx.Compile("says.knl", "kernel says(n: i32) { print(n) }")
	if err != nil {
		panic(err)
	}
	told := []string{"begun"}
	ctx.OnPrint(func(text string) {
		replaced := ctx.OnPrint(func(string) {}) == nil
		closed := ctx.Close() == nil
		told = append(told, fmt.Sprint(strings.TrimSpace(text), ": ", replaced, " ", closed))
	})
	for n := 1; n < 4; n++ {
		if err := module.Launch("says", [3]int64{1, 1, 1}, [3]int64{1, 1, 1}, n); err != nil {
			panic(err)
		}
	}
	module.Close()
	fmt.Println(told, ctx.Close(), ctx.Close())
	_, err = kjit.Open("abacus")
	fmt.Println(err)
}
