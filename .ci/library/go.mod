module library

go 1.26.6

require cairn v0.0.0

replace cairn => ../..
