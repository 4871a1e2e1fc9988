import { isOffline } from '../errors.ts'
import { createSendQueue, type SendQueue } from './send-queue.ts'

const queues = new Map<string, SendQueue>()

/**
 * The line in which the changes of a base go to the server. One for all its tables: edits made before
 * leaving a table are still sent, and undo never overtakes what it takes back.
 */
export function queueOf(baseId: string): SendQueue {
  const known = queues.get(baseId)
  if (known) return known
  const queue = createSendQueue({ isOffline })
  queues.set(baseId, queue)
  return queue
}

/** Runs a call in the base's line; rejects where the server refuses it. */
export function inLine<T>(baseId: string, send: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    queueOf(baseId).add<T>({ send, done: resolve, refused: reject })
  })
}

const waiting = (): boolean => [...queues.values()].some((queue) => queue.status().waiting > 0)

window.addEventListener('online', () => {
  for (const queue of queues.values()) queue.retryNow()
})

// Leaving now would lose what was typed: the browser asks.
window.addEventListener('beforeunload', (event) => {
  if (waiting()) event.preventDefault()
})
