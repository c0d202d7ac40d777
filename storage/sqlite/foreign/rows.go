package foreign

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"cairn/harness/snapshot/foreign"
)

// readTables finds out which plain tables there are, and their columns. Views and
// virtual tables are none: they do what whoever made the file wants.
func (d *Database) readTables(ctx context.Context) (err error) {
	rows, err := d.conn.QueryContext(ctx, `SELECT m.name, c.name FROM sqlite_schema m, pragma_table_info(m.name) c
		WHERE m.type = 'table' AND m.sql NOT LIKE 'CREATE VIRTUAL%' LIMIT 10000`)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	d.columns = map[string]map[string]bool{}
	for rows.Next() {
		var table, column string
		if err := rows.Scan(&table, &column); err != nil {
			return err
		}
		if d.columns[table] == nil {
			d.columns[table] = map[string]bool{}
		}
		d.columns[table][column] = true
	}
	return rows.Err()
}

// has reports whether there is a table with these columns.
func (d *Database) has(table string, columns ...string) bool {
	have, ok := d.columns[table]
	for _, c := range columns {
		ok = ok && have[c]
	}
	return ok
}

// row is one row of a table by the names of its columns; a column that the table does
// not have is NULL.
type row struct {
	names  []string
	values []any
}

func (r row) value(name string) any {
	for i, n := range r.names {
		if n == name {
			return r.values[i]
		}
	}
	return nil
}

// text is a value as text, empty if it is NULL.
func (r row) text(name string) string {
	switch v := r.value(name).(type) {
	case string:
		return v
	case []byte:
		return string(v)
	case int64, float64:
		return fmt.Sprint(v)
	}
	return ""
}

// number is a value as a whole number, 0 if it is none.
func (r row) number(name string) int64 {
	switch v := r.value(name).(type) {
	case int64:
		return v
	case float64:
		return int64(v)
	}
	return 0
}

// real is a value as a number.
func (r row) real(name string) float64 {
	switch v := r.value(name).(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	}
	return 0
}

// bytes is a value as bytes.
func (r row) bytes(name string) []byte {
	switch v := r.value(name).(type) {
	case string:
		return []byte(v)
	case []byte:
		return v
	}
	return nil
}

// size is how many bytes the values have, roughly.
func (r row) size() int64 {
	n := int64(0)
	for _, v := range r.values {
		switch v := v.(type) {
		case string:
			n += int64(len(v))
		case []byte:
			n += int64(len(v))
		default:
			n += 8
		}
	}
	return n
}

// query reads columns of a table, of which the table need not have all; none if the
// table is not there. rest follows its name. What is read counts for the
// conversation that is being read.
func (d *Database) query(ctx context.Context, table string, columns []string, rest string, args ...any) (list []row, err error) {
	if len(d.columns[table]) == 0 {
		return nil, nil
	}
	var picked []string
	for _, c := range columns {
		if d.columns[table][c] {
			picked = append(picked, table+`."`+c+`"`)
		} else {
			picked = append(picked, "NULL")
		}
	}
	rows, err := d.conn.QueryContext(ctx, "SELECT "+strings.Join(picked, ", ")+" FROM "+table+" "+rest, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		r := row{names: columns, values: make([]any, len(columns))}
		into := make([]any, len(columns))
		for i := range into {
			into[i] = &r.values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		if d.room -= r.size(); d.room < 0 || len(list) >= maxRows {
			return nil, fmt.Errorf("%w: a conversation has more than %d MiB or %d rows", foreign.ErrSize, maxLoad>>20, maxRows)
		}
		list = append(list, r)
	}
	return list, rows.Err()
}

// keys reads one column that names conversations.
func (d *Database) keys(ctx context.Context, query string) (list []string, err error) {
	rows, err := d.conn.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var key any
		if err := rows.Scan(&key); err != nil {
			return nil, err
		}
		if len(list) >= maxTalks {
			return nil, fmt.Errorf("%w: it has more than %d conversations", foreign.ErrSize, maxTalks)
		}
		if text := (row{names: []string{""}, values: []any{key}}).text(""); text != "" {
			list = append(list, text)
		}
	}
	return list, rows.Err()
}
