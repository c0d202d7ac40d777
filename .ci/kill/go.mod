module kill

go 1.26.0
