import { createStore } from 'zustand/vanilla'

/** One request to the server, with its callbacks. */
export interface QueueItem<T = unknown> {
  send(): Promise<T>
  done(answer: T): void
  /** The server rejected the request; the items behind it are still sent. */
  refused(error: unknown): void
  /** Rejected without a response or connection, instead of being sent again or waiting. */
  isSentOnce?: boolean
}

/** State of the queue, for the status bar. */
export interface QueueStatus {
  /** Items not confirmed yet, including the one being sent. */
  waiting: number
  /** True from the first attempt without a response until an attempt gets one. */
  offline: boolean
}

/** Error classification and timers for the queue. */
export interface QueueDeps {
  /** True if the server did not respond, or could not store anything for now, so that the item is sent again. */
  isAway(error: unknown): boolean
  /** Pause before attempt n (from 1), in milliseconds. */
  pauseMs?(attempt: number): number
}

export type SendQueue = ReturnType<typeof createSendQueue>

/**
 * Sends items one at a time, in order, as later ones may build on earlier ones. While offline they wait, and are sent
 * automatically when the connection is back, except those with `isSentOnce`.
 */
export function createSendQueue({ isAway, pauseMs = backOff }: QueueDeps) {
  const items: QueueItem[] = []
  const status = createStore<QueueStatus>(() => ({ waiting: 0, offline: false }))
  let sending = false
  let attempt = 0
  let added = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  /** The error of the last attempt without a response. */
  let away: unknown
  const waiters = new Set<() => void>()

  function publish(offline: boolean): void {
    publishStatus(offline)
    for (const check of [...waiters]) check()
  }

  function publishStatus(offline: boolean): void {
    const known = status.getState()
    if (known.waiting === items.length && known.offline === offline) return
    status.setState({ waiting: items.length, offline })
  }

  async function run(): Promise<void> {
    if (sending) return
    clearTimeout(timer)
    sending = true
    for (let item = items[0]; item; item = items[0]) {
      const outcome = await attemptOf(item)
      if (outcome === 'offline') {
        timer = setTimeout(() => void run(), pauseMs(++attempt))
        const notSent = takeSentOnce()
        publish(true)
        for (const one of notSent) one.refused(away)
        break
      }
      attempt = 0
      items.shift()
      outcome()
      // After `outcome`: listeners that wait for an empty queue must see the response applied.
      publish(false)
    }
    sending = false
  }

  async function attemptOf(item: QueueItem): Promise<'offline' | (() => void)> {
    try {
      const answer = await item.send()
      return () => item.done(answer)
    } catch (error) {
      if (item.isSentOnce || !isAway(error)) return () => item.refused(error)
      away = error
      return 'offline'
    }
  }

  /** Removes the items that do not wait for the connection. */
  function takeSentOnce(): QueueItem[] {
    const taken = items.filter(({ isSentOnce }) => isSentOnce)
    const left = items.filter(({ isSentOnce }) => !isSentOnce)
    items.splice(0, items.length, ...left)
    return taken
  }

  function until(holds: () => boolean): Promise<void> {
    if (holds()) return Promise.resolve()
    return new Promise((resolve) => {
      const check = () => {
        if (!holds()) return
        waiters.delete(check)
        resolve()
      }
      waiters.add(check)
    })
  }

  return {
    /** Appends an item; while offline, rejects one with `isSentOnce`. */
    add<T>(item: QueueItem<T>): void {
      if (item.isSentOnce && status.getState().offline) {
        item.refused(away)
        return
      }
      items.push(item as QueueItem)
      added++
      publish(status.getState().offline)
      // While offline only the timer retries: further typing must not flood a server that is down.
      if (!status.getState().offline) void run()
    },

    /** Retries without waiting for the pause, e.g. on the browser's `online` event. */
    retryNow: (): void => void run(),

    /** Resolves once the queue is empty. */
    whenEmpty: (): Promise<void> => until(() => items.length === 0),

    /** Resolves once the items added so far are answered; rejects with the reason if the queue is, or goes, offline. */
    async whenAnswered(): Promise<void> {
      const last = added
      const areAnswered = () => added - items.length >= last
      await until(() => areAnswered() || status.getState().offline)
      if (!areAnswered()) throw away
    },

    /** Resolves once the queue is empty, or offline. */
    whenEmptyOrOffline: (): Promise<void> => until(() => items.length === 0 || status.getState().offline),

    status: status.getState,

    /** Number of items without an answer. Unlike `waiting`, leaves out the item whose answer is being applied. */
    unanswered: (): number => items.length,

    /** Number of items ever added; unchanged means that nothing was written in between. */
    addedCount: (): number => added,

    subscribe: status.subscribe,
  }
}

/** Pauses of 1, 2, 4 and then 5 seconds. */
const backOff = (attempt: number): number => Math.min(5000, 1000 * 2 ** (attempt - 1))
