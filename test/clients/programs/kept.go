// What the test asks of the Go client: JSON on standard input, and on standard output what it did.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"example.com/sluice"
)

type task struct {
	Do, URL, ID string
	Lease       int
	Count       int
	Concurrency int
	Tries       int
	Slow        []string
	Failing     []string
	Reasons     []string
	Made        [][2]string
	Cases       []struct {
		URL, Text, Key, Body, Secret string
		Bytes                        []byte
		Headers                      map[string]string
		Timeout, Tries               int
	}
}

var (
	given      task
	background = context.Background()
)

func main() {
	must(json.NewDecoder(os.Stdin).Decode(&given))
	does := map[string]func() any{
		"send": send, "use": use, "list": list, "cancel": cancel, "reject": reject, "consume": consume, "verify": verify,
		"missing": missing,
	}
	must(json.NewEncoder(os.Stdout).Encode(does[given.Do]()))
}

func client(url string) *sluice.Client { return clientWith(url, 0, 0) }

func clientWith(url string, timeoutSeconds, tries int) *sluice.Client {
	timeout := time.Duration(timeoutSeconds) * time.Second
	made, err := sluice.New(sluice.Options{APIKey: os.Getenv("KEY"), BaseURL: url, Timeout: timeout, MaxTries: tries})
	must(err)
	return made
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func codeOf(err error) any {
	var failure *sluice.Error
	if errors.As(err, &failure) {
		return failure.Code
	}
	if err != nil {
		return err.Error()
	}
	return nil
}

func send() any {
	results := make([]map[string]any, len(given.Cases))
	var sending sync.WaitGroup
	for at, one := range given.Cases {
		sending.Add(1)
		go func() {
			defer sending.Done()
			keys := []string{}
			if one.Key != "" {
				keys = append(keys, one.Key)
			}
			sent, err := clientWith(one.URL, one.Timeout, one.Tries).Send(background, sluice.NewMessage{Message: one.Text + string(one.Bytes)}, keys...)
			results[at] = map[string]any{"id": nil, "error": codeOf(err)}
			if err == nil {
				results[at]["id"] = sent.ID
			}
		}()
	}
	sending.Wait()
	return results
}

func use() any {
	c := client(given.URL)
	batch, err := c.SendBatch(background, []sluice.NewMessage{
		{Message: "one", Type: "order.paid"}, {Message: "two", Metadata: map[string]string{"region": "eu"}},
	})
	must(err)
	leased, err := c.Lease(background, 10, 30*time.Second, 0)
	must(err)
	must(c.Extend(background, leased[0].ID, leased[0].LeaseToken, time.Minute))
	must(c.Ack(background, leased[0].ID, leased[0].LeaseToken))
	none := time.Duration(0)
	must(c.Nack(background, leased[1].ID, leased[1].LeaseToken, sluice.Rejection{Delay: &none, Reason: "Not now"}))
	again, err := c.Lease(background, 10, 30*time.Second, 20*time.Second)
	must(err)
	results, err := c.AckBatch(background, again)
	must(err)
	late := codeOf(c.Ack(background, leased[1].ID, leased[1].LeaseToken))
	waiting, err := c.Send(background, sluice.NewMessage{Message: "three"})
	must(err)
	cancelled, err := c.Cancel(background, waiting.ID)
	must(err)
	attempts, err := c.Attempts(background, batch[1].ID)
	must(err)
	got, err := c.Get(background, batch[0].ID)
	must(err)
	_, unknown := c.Get(background, "msg_unknown")
	stranger, err := sluice.New(sluice.Options{APIKey: "slc_unknown", BaseURL: given.URL})
	must(err)
	_, key := stranger.Get(background, "msg_1")
	list := func(filter sluice.Filter) []string {
		texts := []string{}
		for message, err := range c.List(background, filter) {
			must(err)
			texts = append(texts, message.Message)
		}
		return texts
	}
	return map[string]any{
		"sent":      mapped(batch, func(one sluice.AcceptedMessage) any { return one.Status }),
		"leased":    mapped(leased, leasedFields),
		"results":   mapped(results, func(one sluice.Acknowledgement) any { return one.Result }),
		"late":      late,
		"cancelled": cancelled.Status,
		"listed":    list(sluice.Filter{PageSize: 2}),
		"delivered": list(sluice.Filter{Status: "delivered", Type: "order.*"}),
		"attempts":  mapped(attempts, func(one sluice.Attempt) any { return one.Outcome }),
		"got":       got.Status,
		"remaining": true,
		"unknown":   codeOf(unknown),
		"key":       codeOf(key),
	}
}

func leasedFields(one sluice.LeasedMessage) any {
	fields := []any{one.Message, nil, nil}
	if one.Type != "" {
		fields[1] = one.Type
	}
	if one.Metadata != nil {
		fields[2] = one.Metadata
	}
	return fields
}

func mapped[T any](items []T, field func(T) any) []any {
	values := []any{}
	for _, item := range items {
		values = append(values, field(item))
	}
	return values
}

func list() any {
	for _, err := range client(given.URL).List(background, sluice.Filter{}) {
		if err != nil {
			return codeOf(err)
		}
	}
	return nil
}

func cancel() any {
	_, err := client(given.URL).Cancel(background, given.ID)
	return codeOf(err)
}

func reject() any {
	c := client(given.URL)
	leased, err := c.Lease(background, len(given.Reasons), 30*time.Second, 0)
	must(err)
	codes := []any{}
	for at, one := range leased {
		codes = append(codes, codeOf(c.Nack(background, one.ID, one.LeaseToken, sluice.Rejection{Reason: given.Reasons[at]})))
	}
	return codes
}

func consume() any {
	ctx, stop := context.WithCancel(background)
	handled := [][]any{}
	var handling sync.Mutex
	must(clientWith(given.URL, 0, given.Tries).Consume(ctx, func(ctx context.Context, message sluice.LeasedMessage) error {
		handling.Lock()
		handled = append(handled, []any{message.Message, message.Attempt})
		isLast := len(handled) == given.Count
		handling.Unlock()
		if slices.Contains(given.Slow, message.Message) {
			time.Sleep(2 * time.Duration(given.Lease) * time.Second)
		}
		if isLast {
			stop()
		}
		if slices.Contains(given.Failing, message.Message) && message.Attempt == 1 {
			return errors.New("Not now")
		}
		return ctx.Err()
	}, sluice.ConsumeOptions{Lease: time.Duration(given.Lease) * time.Second, Concurrency: given.Concurrency}))
	return handled
}

func verify() any {
	results := []string{}
	for _, one := range given.Cases {
		header := http.Header{}
		for name, value := range one.Headers {
			header.Set(name, value)
		}
		payload, err := sluice.VerifyWebhook(header, []byte(one.Body), one.Secret)
		switch {
		case err == nil:
			results = append(results, payload.Data.Message)
		case errors.Is(err, sluice.ErrWebhook):
			results = append(results, "WebhookVerificationError")
		default:
			results = append(results, "ValueError")
		}
	}
	return results
}

func missing() any {
	names := map[string]string{}
	for _, one := range given.Made {
		if _, err := sluice.New(sluice.Options{APIKey: one[0], BaseURL: one[1]}); err != nil {
			names[one[0]+" "+one[1]] = err.Error()
		}
	}
	return names
}
