import { isAway, isUnanswered } from '../errors.ts'
import { m } from '../messages.gen.ts'
import { watchUnsaved } from '../session/unsaved.ts'
import { createSendQueue, type SendQueue } from './send-queue.ts'

const queues = new Map<string, SendQueue>()

/**
 * The send queue of a base, shared by all its tables: edits made before leaving a table are still sent, and an undo
 * never overtakes the edit that it reverts.
 */
export function queueOf(baseId: string): SendQueue {
  const known = queues.get(baseId)
  if (known) return known
  const queue = createSendQueue({ isAway })
  queues.set(baseId, queue)
  return queue
}

/**
 * Runs a call after the changes queued for the base so far; rejects if the server rejects the call. It is sent until the
 * server answers, also if it was carried out and only its answer was lost: therefore changes of records need a client id,
 * chosen outside of `send`, and other calls must change nothing the second time. For those that would: `runOnceInQueue`.
 */
export function runInQueue<T>(baseId: string, send: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    queueOf(baseId).add<T>({ send, done: resolve, refused: reject })
  })
}

/**
 * As `runInQueue`, for calls that must not be carried out twice, or long after they were confirmed, such as adding a field
 * or emptying the trash. Rejects without a connection, and with an error that says so if only the answer may be lost.
 */
export function runOnceInQueue<T>(baseId: string, send: () => Promise<T>): Promise<T> {
  let isSent = false
  return new Promise((resolve, reject) => {
    queueOf(baseId).add<T>({
      isSentOnce: true,
      send() {
        isSent = true
        return send()
      },
      done: resolve,
      refused: (error) => reject(isSent && isUnanswered(error) ? new Error(m.records_answer_lost()) : error),
    })
  })
}

window.addEventListener('online', () => {
  for (const queue of queues.values()) queue.retryNow()
})

watchUnsaved({
  count: () => [...queues.values()].reduce((sum, queue) => sum + queue.status().waiting, 0),
  sent: () => Promise.all([...queues.values()].map((queue) => queue.whenEmptyOrOffline())),
})
