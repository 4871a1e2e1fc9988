/** Deliveries of webhooks: the events, and how they are sent. */

export { eventOf, sampleEvent } from './sample.ts'
export { createSender } from './send.ts'
