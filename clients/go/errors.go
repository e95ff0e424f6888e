package sluice

import "time"

// Error says why a request failed. Code is stable and made for programs; use errors.As to get it.
type Error struct {
	// Code is one of the service, or connection_failed, timed_out or unexpected_response.
	Code    string
	Message string
	// Status is 0 if there was no complete response: whether the server has processed the request is then unknown.
	Status int
	// RequestID names the request in the server's log.
	RequestID string
	// RetryAfter is the time after which a repeated request can succeed, if the server said so.
	RetryAfter time.Duration
	// Problem is nil if the response is not from Sluice.
	Problem *Problem
	Cause   error

	wasNotSent bool
}

func (e *Error) Error() string { return "sluice: " + e.Message + " (" + e.Code + ")" }

func (e *Error) Unwrap() error { return e.Cause }

// IsRetryable says whether the same request may succeed later.
func (e *Error) IsRetryable() bool {
	switch {
	case e.Status == 408, e.Status == 429, e.Code == "idempotency_key_in_use":
		return true
	case e.Status < 300:
		// A success that could not be read is an unknown outcome like a broken connection, and so is a change of protocol.
		return true
	}
	return e.Status >= 500 && e.Status != 507
}
