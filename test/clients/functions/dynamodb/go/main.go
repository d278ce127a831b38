// Command main is the function of the report on DynamoDB in Go: it prints its event and reads one item. With an
// argument it does that once for the event it is given there, which is how Node.js calls it.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// client is made in the handler, or before the first call.
var client *dynamodb.Client

func connect() *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(os.Getenv("DYNAMODB")),
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	})
}

func read(ctx context.Context, event map[string]any) (string, error) {
	for name, value := range event {
		fmt.Printf("%s: %v\n", name, value)
	}
	c := client
	if c == nil {
		c = connect()
	}
	out, err := c.GetItem(ctx,
		&dynamodb.GetItemInput{TableName: aws.String("things"),
			Key: map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "1"}}})
	if err != nil {
		return "", err
	}
	if value, ok := out.Item["name"].(*types.AttributeValueMemberS); ok {
		fmt.Println("Found:", value.Value)
		return "SUCCESS", nil
	}
	return "", fmt.Errorf("item 1 has no name: %v", out.Item)
}

func main() {
	if os.Getenv("_HANDLER") == "read2" {
		client = connect()
	}
	if len(os.Args) < 2 {
		lambda.Start(read)
		return
	}
	var event map[string]any
	err := json.Unmarshal([]byte(os.Args[1]), &event)
	if err == nil {
		_, err = read(context.Background(), event)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
