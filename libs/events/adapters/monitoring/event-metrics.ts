import type { Metrics } from '#platform/observability/metrics.js';
import type { EventObserver } from '../../application/event-streams.js';

export class EventMetrics implements EventObserver {
  private readonly events;
  private readonly cuts;

  constructor(private readonly metrics: Metrics) {
    this.events = metrics.counter('sluice_events_sent_total', 'Events sent to streams');
    this.cuts = metrics.counter('sluice_event_streams_cut_total', 'Streams of events whose client read too slowly');
  }

  watchStreams(open: () => number): void {
    this.metrics.gauge('sluice_event_streams', 'Streams of events that are open', open);
  }

  sent(events: number): void {
    this.events.add(events);
  }

  cut(): void {
    this.cuts.add();
  }
}
