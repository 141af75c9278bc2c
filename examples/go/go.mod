module example.org/sstp

go 1.19
