module example.com/sluice

go 1.23
