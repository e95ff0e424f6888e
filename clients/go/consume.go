package sluice

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"
	"unicode/utf16"
)

// ConsumeOptions of a consumer. All may be left out.
type ConsumeOptions struct {
	// Concurrency is how many messages are handled at a time: 1 by default.
	Concurrency int
	// Lease is how long others don't get the messages of a consumer that has died: a minute by default, up to an hour.
	Lease time.Duration
	// OnError is called with each error after which the consumer goes on by itself.
	OnError func(error)
}

// Handler does what a message asks for. An error rejects the message, which is delivered again later. Its context is
// cancelled when the lease is lost: somebody else may have the message by then.
type Handler func(ctx context.Context, message LeasedMessage) error

// leaseWait is how long the server waits for a message.
const leaseWait = 20 * time.Second

// Consume handles the messages of the account, if its delivery is pull, as they become available. Leases are extended
// while handlers run. When the context is cancelled, it takes no more messages, lets the handlers finish, and returns nil.
// It fails if its first lease fails, or if it is refused for good.
func (c *Client) Consume(ctx context.Context, handle Handler, options ConsumeOptions) error {
	if options.Concurrency < 0 {
		return errors.New("sluice: Concurrency must not be negative")
	}
	if options.Concurrency == 0 {
		options.Concurrency = 1
	}
	if options.Lease == 0 {
		options.Lease = time.Minute
	}
	if options.OnError == nil {
		options.OnError = func(error) {}
	}
	taking, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var running sync.WaitGroup
	// The first lease shows whether any can work at all.
	leased := make(chan struct{})
	for at := range options.Concurrency {
		running.Add(1)
		go func() {
			defer running.Done()
			if at > 0 {
				select {
				case <-leased:
				case <-taking.Done():
					return
				}
			}
			if err := c.consumeInTurn(taking, handle, options, leased); err != nil {
				stop(err)
			}
		}()
	}
	running.Wait()
	if cause := context.Cause(taking); ctx.Err() == nil && cause != nil {
		return cause
	}
	return nil
}

// consumeInTurn handles one message after another. It closes hasLeased after its first lease, unless that is closed.
func (c *Client) consumeInTurn(ctx context.Context, handle Handler, options ConsumeOptions, hasLeased chan struct{}) error {
	failures := 0
	for ctx.Err() == nil {
		leased, err := c.Lease(ctx, 1, options.Lease, leaseWait)
		if ctx.Err() != nil && err != nil {
			return nil
		}
		if err != nil {
			var failure *Error
			if !isClosed(hasLeased) || !errors.As(err, &failure) || !failure.IsRetryable() {
				return err
			}
			options.OnError(err)
			failures++
			_ = sleep(ctx, backoff(failures))
			continue
		}
		if !isClosed(hasLeased) {
			close(hasLeased)
		}
		failures = 0
		for _, message := range leased {
			if err := c.settle(context.WithoutCancel(ctx), message, handle, options.Lease); err != nil {
				options.OnError(err)
			}
		}
	}
	return nil
}

func isClosed(channel <-chan struct{}) bool {
	select {
	case <-channel:
		return true
	default:
		return false
	}
}

// settle handles a message and reports its outcome, until the lease ends.
func (c *Client) settle(ctx context.Context, message LeasedMessage, handle Handler, lease time.Duration) error {
	held, lose := context.WithCancel(ctx)
	defer lose()
	settled := make(chan struct{})
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		c.keep(held, message, lease, settled, lose)
	}()
	err := handle(held, message)
	if err == nil {
		err = c.end(held, message.ID, "ack", map[string]any{"leaseToken": message.LeaseToken}, true)
	} else {
		err = c.nack(held, message.ID, message.LeaseToken, Rejection{Reason: err.Error()}, true)
	}
	close(settled)
	<-kept
	return err
}

// keep extends a lease in good time until the message is settled, and cancels its context when the lease is lost.
func (c *Client) keep(ctx context.Context, message LeasedMessage, lease time.Duration, settled <-chan struct{}, lose func()) {
	expiresAt := time.Now().Add(lease)
	for {
		select {
		case <-settled:
			return
		case <-ctx.Done():
			return
		case <-time.After(lease / 2):
		}
		sentAt := time.Now()
		inTime, cancel := context.WithDeadline(ctx, expiresAt)
		err := c.extend(inTime, message.ID, message.LeaseToken, lease, true)
		cancel()
		if err != nil {
			select {
			case <-settled:
			default:
				lose()
			}
			return
		}
		expiresAt = sentAt.Add(lease)
	}
}

// storable is what of a reason the server stores: at most 1,000 units of UTF-16, without NUL.
func storable(reason string) string {
	var kept strings.Builder
	left := 1_000
	for _, letter := range reason {
		if left -= utf16.RuneLen(letter); left < 0 {
			break
		}
		if letter != 0 {
			kept.WriteRune(letter)
		}
	}
	return kept.String()
}
