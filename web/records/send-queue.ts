import { createStore } from 'zustand/vanilla'

/** One action on its way to the server. */
export interface QueueItem<T = unknown> {
  send(): Promise<T>
  done(answer: T): void
  /** The server said no. The items behind it are sent all the same. */
  refused(error: unknown): void
}

/** How the line stands, for the bar that says so. */
export interface QueueStatus {
  /** Actions not confirmed yet, the one under way included. */
  waiting: number
  /** True from the first attempt that got no answer until one does. */
  offline: boolean
}

/** Error classification and timers for the queue. */
export interface QueueDeps {
  /** True if no answer arrived, so that the action is sent again. */
  isOffline(error: unknown): boolean
  /** Pause before attempt n (from 1), in milliseconds. */
  pauseMs?(attempt: number): number
}

export type SendQueue = ReturnType<typeof createSendQueue>

/**
 * Sends actions one after the other, in the order in which they were made: a later one may build on an
 * earlier one. While there is no connection they wait, and go out by themselves when it is back.
 */
export function createSendQueue({ isOffline, pauseMs = backOff }: QueueDeps) {
  const items: QueueItem[] = []
  const status = createStore<QueueStatus>(() => ({ waiting: 0, offline: false }))
  let sending = false
  let attempt = 0
  let added = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  function publish(offline: boolean): void {
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
        publish(true)
        break
      }
      attempt = 0
      items.shift()
      outcome()
      // Whoever waits for the line to be empty finds the answers in their place.
      publish(false)
    }
    sending = false
  }

  async function attemptOf(item: QueueItem): Promise<'offline' | (() => void)> {
    try {
      const answer = await item.send()
      return () => item.done(answer)
    } catch (error) {
      return isOffline(error) ? 'offline' : () => item.refused(error)
    }
  }

  return {
    /** Puts an action at the end of the line. */
    add<T>(item: QueueItem<T>): void {
      items.push(item as QueueItem)
      added++
      publish(status.getState().offline)
      // While offline the clock decides: typing on must not hammer a server that is down.
      if (!status.getState().offline) void run()
    },

    /** Tries now instead of after the pause, e.g. when the browser says that it is online. */
    retryNow: (): void => void run(),

    /** Resolves when everything that is in line now was answered. */
    settled(): Promise<void> {
      if (items.length === 0) return Promise.resolve()
      return new Promise((resolve) => {
        const stop = this.subscribe(() => {
          if (items.length > 0) return
          stop()
          resolve()
        })
      })
    },

    status: status.getState,

    /** How many actions were ever put in line: the same number later means that nothing was done since. */
    added: (): number => added,

    subscribe: status.subscribe,
  }
}

/** 1, 2, 4 and then every 5 seconds. */
const backOff = (attempt: number): number => Math.min(5000, 1000 * 2 ** (attempt - 1))
