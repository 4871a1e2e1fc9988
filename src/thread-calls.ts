import { AppError, type ErrorCode } from './core/errors.ts'
import { workerUrl } from './worker-url.ts'

/*
 * Calls between the main thread and the thread that reads or writes a file. Either side may call functions of the other;
 * arguments and results are plain data.
 */

// biome-ignore lint/suspicious/noExplicitAny: the two sides have their own types, see `remote`
type Functions = Record<string, (...args: any[]) => unknown>

/** The functions of the other side, all asynchronous. */
export type Remote<F extends Functions> = {
  [K in keyof F]: (...args: Parameters<F[K]>) => Promise<Awaited<ReturnType<F[K]>>>
}

type Message =
  | { call: number; name: string; args: unknown[] }
  | { answers: number; result: unknown }
  | { answers: number; failure: Failure }

/** An error on its way: an `AppError` stays one. */
interface Failure {
  message: string
  code: string | undefined
  isRefusal: boolean
}

function toFailure(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error)
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined
  return { message, code, isRefusal: error instanceof AppError }
}

const toError = ({ message, code, isRefusal }: Failure): Error =>
  isRefusal && code !== undefined
    ? new AppError(code as ErrorCode, message)
    : Object.assign(new Error(message), { code })

/** One end of the connection. @param own the functions that the other side may call */
function connect<Theirs extends Functions>(send: (message: Message) => void, own: Functions) {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  let nextCall = 1

  async function answer({ call, name, args }: Extract<Message, { call: number }>): Promise<void> {
    try {
      send({ answers: call, result: await own[name]?.(...args) })
    } catch (error) {
      send({ answers: call, failure: toFailure(error) })
    }
  }

  function fail(error: unknown): void {
    for (const pending of waiting.values()) pending.reject(error)
    waiting.clear()
  }

  return {
    remote: new Proxy({} as Remote<Theirs>, {
      get:
        (_, name: string) =>
        (...args: unknown[]) => {
          const pending = Promise.withResolvers<unknown>()
          const call = nextCall++
          waiting.set(call, pending)
          send({ call, name, args })
          return pending.promise
        },
    }),
    receive(message: Message): void {
      if ('call' in message) {
        // A result that cannot be sent ends the connection.
        answer(message).catch(fail)
        return
      }
      const pending = waiting.get(message.answers)
      waiting.delete(message.answers)
      if ('failure' in message) pending?.reject(toError(message.failure))
      else pending?.resolve(message.result)
    },
    fail,
  }
}

/** Lets the main thread call `own`, from within a worker. Returns the functions of the main thread. */
export function serve<Main extends Functions>(own: Functions): Remote<Main> {
  const worker = self as unknown as Worker
  const { remote, receive } = connect<Main>((message) => worker.postMessage(message), own)
  worker.onmessage = ({ data }: MessageEvent<Message>) => receive(data)
  return remote
}

/**
 * Runs `work` with the functions of a new thread, which ends afterwards.
 *
 * @param script project path of the worker
 * @param own functions that the thread may call
 */
export async function withThread<Theirs extends Functions, T>(
  script: string,
  own: Functions,
  work: (thread: Remote<Theirs>) => Promise<T>,
): Promise<T> {
  const worker = new Worker(workerUrl(script))
  const { remote, receive, fail } = connect<Theirs>((message) => worker.postMessage(message), own)
  worker.onmessage = ({ data }: MessageEvent<Message>) => receive(data)
  worker.onerror = ({ message }) => fail(new Error(`The thread of a file failed: ${message}`))
  // A thread can end without an error.
  worker.addEventListener('close', () => fail(new Error('The thread of a file has ended')))
  try {
    return await work(remote)
  } finally {
    worker.terminate()
  }
}
