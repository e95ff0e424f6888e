package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
)

func client(key string) *ClientWithResponses {
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+key)
		return nil
	}
	client, err := NewClientWithResponses(os.Getenv("SLUICE_URL"), WithRequestEditorFn(authorize))
	if err != nil {
		panic(err)
	}
	return client
}

func send(key, message string) *SendMessageResponse {
	idempotencyKey := "generated"
	params := &SendMessageParams{IdempotencyKey: &idempotencyKey}
	response, err := client(key).SendMessageWithResponse(context.Background(), params, SendMessageBody{Message: message})
	if err != nil {
		panic(err)
	}
	return response
}

func main() {
	key := os.Getenv("API_KEY")
	sent := send(key, "Hello").JSON202
	status, limit := MessageStatusQueued, 10
	query := &ListMessagesParams{Status: &status, Limit: &limit}
	listed, err := client(key).ListMessagesWithResponse(context.Background(), query)
	if err != nil {
		panic(err)
	}
	messages := []string{}
	for _, message := range listed.JSON200.Data {
		messages = append(messages, message.Message)
	}
	var unknown UnauthorizedProblemCode = send("slc_unknown", "Hello").ApplicationproblemJSON401.Code
	var reused IdempotencyKeyReusedProblemCode = send(key, "Another").ApplicationproblemJSON422.Code
	var refused TooManyRequestsProblemCode = send(os.Getenv("LIMITED_KEY"), "Hello").ApplicationproblemJSON429.Code
	json.NewEncoder(os.Stdout).Encode([]any{sent.Status, messages, unknown, reused, refused})
}
