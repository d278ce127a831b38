// Command gorm speaks to a running hikyaku with GORM and prints a line a check: "ok NAME" or "not ok NAME: why".
// It is a module of its own; scripts/need-clients builds it. The checks and the variables that say where the server is:
// ../README.md.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"time"

	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// Job is a table without a key: a field of the name ID would be one.
type Job struct {
	Number int64           `gorm:"not null"`
	Kind   string          `gorm:"size:20"`
	Price  *string         `gorm:"type:decimal(10,2)"`
	Big    uint64          `gorm:"type:bigint unsigned"`
	At     *time.Time      `gorm:"type:datetime(3)"`
	Doc    json.RawMessage `gorm:"type:json"`
	Flag   bool
	Note   *string
	Weight float64
	Raw    []byte
}

var (
	failed = false
	errEnd = errors.New("given up")
)

func check(name string, err error) {
	if err != nil {
		failed = true
		fmt.Printf("not ok %s: %s\n", name, strings.Join(strings.Fields(err.Error()), " "))
		return
	}
	fmt.Println("ok", name)
}

func want(expected, got any) error {
	if !reflect.DeepEqual(expected, got) {
		return fmt.Errorf("got %v, want %v", got, expected)
	}
	return nil
}

func main() {
	place := fmt.Sprintf("%s:%s@tcp(%s:%s)/%s?charset=utf8mb4&parseTime=True", os.Getenv("CLIENT_USER"),
		os.Getenv("CLIENT_PASSWORD"), os.Getenv("CLIENT_HOST"), os.Getenv("CLIENT_PORT"), os.Getenv("CLIENT_DATABASE"))
	quiet := &gorm.Config{Logger: logger.Discard, PrepareStmt: true}
	db, err := gorm.Open(mysql.Open(place), quiet)
	check("connect-tcp", err)
	if err == nil {
		check("create-table", create(db))
		check("show-table", show(db))
		check("insert-multi-row", insert(db))
		check("select", look(db))
		check("own-row", db.Connection(take))
		check("transactions", transactions(db))
		check("drop-table", drop(db))
	}
	if failed {
		os.Exit(1)
	}
}

func create(db *gorm.DB) error {
	queues := db.Set("gorm:table_options", "ENGINE=QUEUE")
	return errors.Join(db.Migrator().DropTable(&Job{}), queues.AutoMigrate(&Job{}), queues.AutoMigrate(&Job{}))
}

func show(db *gorm.DB) error {
	columns, err := db.Migrator().ColumnTypes(&Job{})
	if err != nil {
		return err
	}
	var found []string
	for _, c := range columns[:5] {
		kind, _ := c.ColumnType()
		null, _ := c.Nullable()
		found = append(found, fmt.Sprint(c.Name(), " ", kind, " ", null))
	}
	indexes, err := db.Migrator().GetIndexes(&Job{})
	return errors.Join(err, want(0, len(indexes)), want(true, db.Migrator().HasColumn(&Job{}, "Note")), want([]string{
		"number bigint false", "kind varchar(20) true", "price decimal(10,2) true", "big bigint unsigned true",
		"at datetime(3) true",
	}, found))
}

// full is a row with a value in each column.
func full() Job {
	price, note, at := "12.30", "こんにちは 🚚 é", time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)
	return Job{
		Number: 1, Kind: "a", Price: &price, Big: 1<<64 - 1, At: &at, Doc: json.RawMessage(`{"a": 1}`), Flag: true,
		Note: &note, Weight: 1.5, Raw: []byte{0, 255},
	}
}

func insert(db *gorm.DB) error {
	one := full()
	var many []Job
	for i := range 100 {
		many = append(many, Job{Number: int64(i + 2), Kind: "b", Doc: json.RawMessage("null")})
	}
	return errors.Join(db.Create(&one).Error, db.CreateInBatches(many, 30).Error)
}

func look(db *gorm.DB) error {
	var last []Job
	var count int64
	err := errors.Join(db.Order("number desc").Limit(3).Offset(2).Find(&last).Error,
		db.Model(&Job{}).Where("number > ? AND kind IN ?", 50, []string{"b"}).Count(&count).Error)
	if err != nil {
		return err
	}
	var sums []struct {
		Kind  string
		Total int64
	}
	groups := db.Model(&Job{}).Select("kind, SUM(number) AS total").Group("kind").Having("COUNT(*) > ?", 1)
	err = groups.Scan(&sums).Error
	return errors.Join(err, want(3, len(last)), want(int64(99), last[0].Number), want(int64(51), count),
		want("[{b 5150}]", fmt.Sprint(sums)))
}

// take has one connection for itself.
func take(db *gorm.DB) error {
	var taken int
	var own Job
	err := errors.Join(db.Raw("SELECT queue_wait(?, ?)", "jobs:kind='a'", 5).Scan(&taken).Error, db.First(&own).Error)
	return errors.Join(err, want(1, taken), want(full(), own), db.Exec("SELECT queue_end()").Error)
}

func transactions(db *gorm.DB) error {
	err := db.Transaction(func(outer *gorm.DB) error {
		return outer.Transaction(func(inner *gorm.DB) error { // a savepoint
			return inner.Create(&Job{Number: 500, Kind: "b", Doc: json.RawMessage("[]")}).Error
		})
	})
	back := db.Transaction(func(*gorm.DB) error { return errEnd })
	return errors.Join(err, want(true, errors.Is(back, errEnd)))
}

func drop(db *gorm.DB) error {
	done := db.Where("kind = ?", "b").Delete(&Job{})
	return errors.Join(done.Error, want(int64(101), done.RowsAffected), db.Migrator().DropTable(&Job{}))
}
