/** Deliveries of webhooks: made from the entries of the change logs, and sent in order. */

export { createCollector } from './collect.ts'
export { createDeliverer } from './deliver.ts'
export { type EventName, eventNameFor, eventOf, eventText, hasPrevious, sampleEvent } from './event.ts'
export { createFailures } from './failures.ts'
export { createSender, mailTopicOf, openTarget } from './send.ts'
