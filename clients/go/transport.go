package sluice

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	firstBackoff = 500 * time.Millisecond
	maxBackoff   = 20 * time.Second
	// A limit can be raised and a ban be lifted: one request in a while finds out.
	probeInterval = time.Minute
	maxSpread     = time.Second
	// The bytes of a response, and those of its request: a page of a list has at most 25 MB, a batch is repeated.
	maxBody = 30_000_000
)

// call is a request, and how it may be repeated.
type call struct {
	method, path   string
	query          url.Values
	body           any
	idempotencyKey string
	// isRepeatable says whether a POST can be repeated although its outcome is unknown; other methods can.
	isRepeatable bool
	// isUnbounded says that only the context ends its tries.
	isUnbounded bool
	// patience is how long the server may take longer than usual.
	patience time.Duration
	// field is one that the result has; empty if there is no result.
	field string
}

type transport struct {
	options Options
	client  http.Client
	baseURL string
	pause   pause
}

func newTransport(options Options) *transport {
	if options.MaxTries == 0 {
		options.MaxTries = 6
	}
	if options.Timeout == 0 {
		options.Timeout = 30 * time.Second
	}
	if options.Deadline == 0 {
		options.Deadline = 2 * time.Minute
	}
	t := &transport{options: options, baseURL: strings.TrimRight(options.BaseURL, "/")}
	if options.HTTPClient != nil {
		t.client = *options.HTTPClient
	}
	// A redirected POST would become a GET.
	t.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return t
}

// replacement is what encoding/json writes in place of bytes that are not valid UTF-8; it writes U+FFFD itself as it is.
var replacement = regexp.MustCompile(`[^\\](?:\\\\)*\\ufffd`)

// call sends a request until it succeeds or is refused for good.
func (t *transport) call(ctx context.Context, c call, result any) error {
	var body []byte
	if c.body != nil {
		var err error
		if body, err = json.Marshal(c.body); err != nil {
			return err
		}
		if replacement.Match(body) {
			return errors.New("sluice: a text is not valid UTF-8: encode it, for example as base64")
		}
	}
	if !c.isUnbounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, t.options.Deadline+c.patience)
		defer cancel()
	}
	deadline, hasDeadline := ctx.Deadline()
	isTooLate := func(wait time.Duration) bool { return hasDeadline && time.Until(deadline) < wait }
	var failure *Error
	for tries := 1; ; tries++ {
		if err := t.pause.end(ctx, isTooLate); err != nil {
			return first(failure, err)
		}
		err := t.try(ctx, c, body, result)
		if err == nil || !errors.As(err, &failure) {
			return err
		}
		isRefused := failure.Status == http.StatusTooManyRequests
		isNothingDone := isRefused || failure.Status == http.StatusRequestTimeout || failure.wasNotSent
		wait := failure.RetryAfter + backoff(tries)
		if isRefused {
			wait = max(t.pause.left(), backoff(tries))
		}
		isLast := (!c.isUnbounded && tries >= t.options.MaxTries) || isTooLate(wait)
		canRepeat := c.method != http.MethodPost || c.isRepeatable || isNothingDone
		if isLast || !failure.IsRetryable() || !canRepeat {
			return failure
		}
		// All calls wait for the end of a pause together.
		if !isRefused || failure.RetryAfter == 0 {
			if err := sleep(ctx, wait); err != nil {
				return first(failure, err)
			}
		}
	}
}

// first is what the caller should know: the last response rather than the end of the time.
func first(failure *Error, err error) error {
	if failure != nil && errors.Is(err, context.DeadlineExceeded) {
		return failure
	}
	return err
}

func (t *transport) try(ctx context.Context, c call, body []byte, result any) error {
	tryCtx, cancel := context.WithTimeout(ctx, t.options.Timeout+c.patience)
	defer cancel()
	address := t.baseURL + c.path
	if len(c.query) > 0 {
		address += "?" + c.query.Encode()
	}
	request, err := http.NewRequestWithContext(tryCtx, c.method, address, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+t.options.APIKey)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if c.idempotencyKey != "" {
		request.Header.Set("Idempotency-Key", c.idempotencyKey)
	}
	startedAt := time.Now()
	response, err := t.client.Do(request)
	if err != nil {
		return t.failed(ctx, c, err)
	}
	defer response.Body.Close()
	// What is not from Sluice may have no end, or become long only when it is decompressed.
	limit := maxBody + len(body)
	content, err := io.ReadAll(io.LimitReader(response.Body, int64(limit)+1))
	if err != nil {
		return t.failed(ctx, c, err)
	}
	isTooLong := len(content) > limit
	if isTooLong {
		content = nil
	}
	if response.StatusCode < 200 || response.StatusCode >= 300 {
		failure := errorOf(response, content, c.method)
		if failure.Status == http.StatusTooManyRequests {
			t.pause.begin(failure)
		}
		return failure
	}
	if response.StatusCode != http.StatusNoContent || c.field != "" {
		if err := read(content, c.field, result); err != nil {
			fault := "not the JSON"
			if isTooLong {
				fault = "is longer than any"
			}
			message := fmt.Sprintf("the response has the status %d, but %s of Sluice: check BaseURL and proxies", response.StatusCode, fault)
			return &Error{Code: "unexpected_response", Message: message + doubt(c.method), Status: response.StatusCode, Cause: err}
		}
	}
	t.pause.succeeded(startedAt)
	return nil
}

// read reads a result. Other responses of success are of proxies, and say nothing about the outcome.
func read(content []byte, field string, result any) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(content, &fields); err != nil || field == "" {
		return err
	}
	if value, ok := fields[field]; !ok || string(value) == "null" {
		return errors.New("the result has no " + field)
	}
	return json.Unmarshal(content, result)
}

// failed is the error of a try that had no complete response, unless the caller has ended it.
func (t *transport) failed(ctx context.Context, c call, err error) error {
	if ctx.Err() != nil && errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	failure := &Error{Code: "connection_failed", Message: fmt.Sprintf("%s %s failed: %v", c.method, c.path, causeOf(err)), Cause: err}
	if errors.Is(err, context.DeadlineExceeded) {
		failure.Code = "timed_out"
	}
	var operation *net.OpError
	failure.wasNotSent = errors.As(err, &operation) && operation.Op == "dial"
	return failure
}

// causeOf leaves out the address, which url.Error repeats.
func causeOf(err error) error {
	var outer *url.Error
	if errors.As(err, &outer) {
		return outer.Err
	}
	return err
}

// doubt is said of a request that may have been processed, although no response of Sluice says so.
func doubt(method string) string {
	if method == http.MethodGet {
		return ""
	}
	return "; the outcome is unknown"
}

func errorOf(response *http.Response, content []byte, method string) *Error {
	failure := &Error{
		Code:       "unexpected_response",
		Message:    fmt.Sprintf("the response has the status %d and is not from Sluice: check BaseURL and proxies", response.StatusCode),
		Status:     response.StatusCode,
		RequestID:  response.Header.Get("X-Request-Id"),
		RetryAfter: retryAfter(response.Header.Get("Retry-After")),
	}
	if failure.Status >= 500 {
		failure.Message += doubt(method)
	}
	var problem Problem
	// Proxies answer with pages of their own.
	if json.Unmarshal(content, &problem) == nil && problem.Code != "" && problem.Detail != "" {
		failure.Code, failure.Message, failure.Problem = problem.Code, problem.Detail, &problem
	}
	return failure
}

// retryAfter reads seconds or a date; anything else counts as none.
func retryAfter(text string) time.Duration {
	if strings.Trim(text, "0123456789") == "" && text != "" {
		// It is the greatest number if the text has a greater one.
		seconds, _ := strconv.ParseUint(text, 10, 32)
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}

// backoff is "full jitter": anything from 0 to a bound that doubles with each try.
func backoff(tries int) time.Duration {
	bound := min(maxBackoff, firstBackoff<<min(tries-1, 10))
	return time.Duration(rand.Int64N(int64(bound)))
}

func sleep(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// pause keeps all calls of a client back once one of them was refused, so that they don't each earn a refusal.
type pause struct {
	mutex                    sync.Mutex
	failure                  *Error
	beganAt, endsAt, probeAt time.Time
}

func (p *pause) left() time.Duration {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return time.Until(p.endsAt)
}

func (p *pause) begin(failure *Error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	now := time.Now()
	p.failure, p.beganAt, p.probeAt = failure, now, now.Add(probeInterval)
	if ends := now.Add(failure.RetryAfter); ends.After(p.endsAt) {
		p.endsAt = ends
	}
}

// succeeded says that a request that was sent at this time was admitted.
func (p *pause) succeeded(sentAt time.Time) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if sentAt.After(p.beganAt) {
		p.endsAt = time.Time{}
	}
}

// end returns when a request may be sent, or what remains of the refusal if that is too late.
func (p *pause) end(ctx context.Context, isTooLate func(time.Duration) bool) error {
	for left := p.left(); left > 0; left = p.left() {
		if p.isProbe() {
			return nil
		}
		if isTooLate(left) {
			refusal := *p.failure
			refusal.RetryAfter = left
			return &refusal
		}
		// The waiting requests continue one after another: the first ones may use up the window again.
		if err := sleep(ctx, min(left+time.Duration(rand.Int64N(int64(maxSpread))), probeInterval)); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (p *pause) isProbe() bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	now := time.Now()
	if now.Before(p.probeAt) {
		return false
	}
	p.probeAt = now.Add(probeInterval)
	return true
}
