import { createServer, connect as dial, type Socket } from 'node:net'

/** Long enough that statements which are sent without waiting for each other count as one round trip. */
const DELAY_MS = 40

interface Proxy extends AsyncDisposable {
  /** The given URL, through the proxy. */
  url: string
  stop(): Promise<void>
}

/** A way to a database server that counts round trips. */
export interface CountingProxy extends Proxy {
  /** Round trips while `work` runs, on all connections but the one that listens for notifications. */
  roundTrips(work: () => Promise<unknown>): Promise<number>
}

/**
 * Delays every answer while it counts of the server. A round trip begins with the first bytes that the client sends after an answer has
 * reached it.
 */
export async function startCountingProxy(databaseUrl: string): Promise<CountingProxy> {
  let count = 0
  let isCounting = false
  const proxy = await startProxy(databaseUrl, () => {
    let isListening = false
    let isWaiting = false
    return {
      onRequest(data, pass) {
        isListening ||= data.includes('listen sheaf')
        if (!isWaiting && !isListening) count++
        isWaiting = true
        pass()
      },
      onAnswer(pass) {
        const answer = () => {
          isWaiting = false
          pass()
        }
        if (isCounting) setTimeout(answer, DELAY_MS)
        else answer()
      },
    }
  })
  return {
    ...proxy,
    async roundTrips(work) {
      count = 0
      isCounting = true
      await work().finally(() => {
        isCounting = false
      })
      return count
    },
  }
}

/** A commit that a proxy holds. */
export interface HeldCommit {
  /** Sends it to the server, or its answer to the client. */
  pass(): void
  /** Cuts its connection. */
  cut(): void
}

/** A way to a database server that can be interrupted at a commit. */
export interface CommitProxy extends Proxy {
  /**
   * Holds a commit: before the server gets it, or once it is carried out, before the client gets the answer.
   *
   * @param options `skip`: the number of commits that pass before; `text`: another request than a commit
   */
  holdAt(moment: 'before' | 'after', options?: { skip?: number; text?: RegExp }): Promise<HeldCommit>
  /**
   * Cuts the connection of a commit, as `holdAt` does.
   *
   * @param options `downMs`: how long the server then seems to be away
   */
  cutAt(moment: 'before' | 'after', options?: { skip?: number; text?: RegExp; downMs?: number }): void
  /** Number of connections it has cut. */
  cuts(): number
}

export async function startCommitProxy(databaseUrl: string): Promise<CommitProxy> {
  let armed: { moment: string; skip: number; text: RegExp; hold(commit: HeldCommit): void } | null = null
  let downUntil = 0
  let cuts = 0
  const proxy = await startProxy(databaseUrl, (cut) => {
    if (Date.now() < downUntil) cut()
    let holdAnswer: ((commit: HeldCommit) => void) | null = null
    return {
      onRequest(data, pass) {
        if (!armed?.text.test(data.toString('latin1')) || armed.skip-- > 0) return pass()
        const { moment, hold } = armed
        armed = null
        if (moment === 'before') return hold({ pass, cut })
        holdAnswer = hold
        pass()
      },
      onAnswer(pass) {
        if (holdAnswer === null) return pass()
        holdAnswer({ pass, cut })
        holdAnswer = null
      },
    }
  })
  const holdAt: CommitProxy['holdAt'] = (moment, { skip = 0, text = /\bcommit\b/i } = {}) =>
    new Promise((hold) => {
      armed = { moment, skip, text, hold }
    })
  return {
    ...proxy,
    holdAt,
    cutAt(moment, { downMs = 0, ...options } = {}) {
      void holdAt(moment, options).then(({ cut }) => {
        cuts++
        downUntil = Date.now() + downMs
        cut()
      })
    },
    cuts: () => cuts,
  }
}

/** A way to a database server that can be cut off without a word. */
export interface SilentProxy extends Proxy {
  /** Passes on nothing more of the present connection that listens for notifications, and tells neither side. */
  silence(): void
  /** Lets the server notice the end of what was cut off. */
  notice(): void
}

export async function startSilentProxy(databaseUrl: string): Promise<SilentProxy> {
  let round = 0
  let ends: (() => void)[] = []
  const proxy = await startProxy(databaseUrl, () => {
    const own = round
    let isListening = false
    const isSilent = () => isListening && own !== round
    return {
      onRequest(data, pass) {
        isListening ||= data.includes('listen sheaf')
        if (!isSilent()) pass()
      },
      onAnswer(pass) {
        if (!isSilent()) pass()
      },
      onLeave(pass) {
        if (isSilent()) ends.push(pass)
        else pass()
      },
      onEnd(pass) {
        if (!isSilent()) pass()
      },
    }
  })
  return {
    ...proxy,
    silence: () => void round++,
    notice() {
      for (const end of ends) end()
      ends = []
    },
  }
}

/** A way to a database server that can be closed and opened. */
export interface ClosableProxy extends Proxy {
  /** Cuts all connections, and every new one. */
  close(): void
  open(): void
}

export async function startClosableProxy(databaseUrl: string): Promise<ClosableProxy> {
  let isClosed = false
  const cuts = new Set<() => void>()
  const proxy = await startProxy(databaseUrl, (cut) => {
    if (isClosed) cut()
    cuts.add(cut)
    return {
      onRequest: (_data, pass) => pass(),
      onAnswer: (pass) => pass(),
      onLeave(pass) {
        cuts.delete(cut)
        pass()
      },
    }
  })
  return {
    ...proxy,
    close() {
      isClosed = true
      for (const cut of cuts) cut()
    },
    open() {
      isClosed = false
    },
  }
}

/** Passes on the bytes of one connection. */
interface Link {
  /** Called with bytes of the client, which `pass` sends to the server. */
  onRequest(data: Buffer | string, pass: () => void): void
  /** Called with bytes of the server, which `pass` sends to the client. */
  onAnswer(pass: () => void): void
  /** Called when the client has left, which `pass` tells the server; by default it is told at once. */
  onLeave?(pass: () => void): void
  /** Called when the server has ended the connection, which `pass` tells the client; by default it is told at once. */
  onEnd?(pass: () => void): void
}

async function startProxy(databaseUrl: string, open: (cut: () => void) => Link): Promise<Proxy> {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = dial({ host: target.hostname, port: Number(target.port) })
    const link = open(() => client.destroy())
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
    }
    client.on('data', (data) => link.onRequest(data, () => upstream.write(data)))
    upstream.on('data', (data) => link.onAnswer(() => client.write(data)))
    client.on('close', () => {
      const pass = () => upstream.destroy()
      if (link.onLeave) link.onLeave(pass)
      else pass()
    })
    upstream.on('close', () => {
      const pass = () => client.destroy()
      if (link.onEnd) link.onEnd(pass)
      else pass()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  const { port } = server.address() as { port: number }
  async function stop() {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    for (const socket of sockets) socket.destroy()
    await closed
  }
  return {
    url: Object.assign(new URL(target), { port: String(port) }).href,
    stop,
    [Symbol.asyncDispose]: stop,
  }
}
