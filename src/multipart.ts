import { decodeUri } from './core/decode-uri.ts'
import { badRequest } from './core/errors.ts'
import { m } from './messages.gen.ts'

/** A part of a multipart body. Requesting the next part discards unread bytes. */
export interface Part {
  name: string
  /** Null for a plain field. */
  fileName: string | null
  body: AsyncIterable<Uint8Array>
}

const MAX_HEAD = 16 * 1024
/** RFC 2046 allows 70 characters; some clients write more. */
const MAX_BOUNDARY = 200
/** Maximum number of discarded bytes of a rejected body. */
const MAX_DRAINED = 8 * 1024 ** 2
const DRAIN_MS = 1_000
const END_OF_HEAD = '\r\n\r\n'

/**
 * Streams the parts of a `multipart/form-data` body (RFC 7578), with only the latest chunk in memory.
 *
 * @throws BAD_REQUEST if the body is not multipart or ends early
 */
export async function* readMultipart(
  body: AsyncIterable<Uint8Array>,
  contentType: string,
): AsyncGenerator<Part> {
  const [, quoted, plain] = /; *boundary=(?:"([^"]+)"|([^\s;"]+))/i.exec(contentType) ?? []
  const boundary = quoted ?? plain
  if (boundary === undefined || boundary.length > MAX_BOUNDARY) throw broken()
  const source = createSource(body)
  try {
    // Ignores the preamble before the first boundary.
    for await (const _ of source.until(`\r\n--${boundary}`));
    while ((await source.take(2)) === '\r\n') {
      const head = readHead(await source.head())
      const bytes = source.until(`\r\n--${boundary}`)
      yield { ...head, body: bytes }
      for await (const _ of bytes);
    }
  } finally {
    await source.close()
  }
}

function createSource(body: AsyncIterable<Uint8Array>) {
  const iterator = body[Symbol.asyncIterator]()
  // The first boundary is not preceded by a line break.
  let held: Buffer = Buffer.from('\r\n')

  async function fill(): Promise<void> {
    const { done, value } = await iterator.next()
    if (done) throw broken()
    held = held.length === 0 ? Buffer.from(value) : Buffer.concat([held, value])
  }

  return {
    /**
     * Drains a limited part of the remaining body: a client reads the answer only after it has sent everything, and its
     * connection can then be reused.
     */
    async close(): Promise<void> {
      const patience = Bun.sleep(DRAIN_MS).then(() => null)
      for (let bytes = 0; bytes < MAX_DRAINED; ) {
        const next = await Promise.race([iterator.next().catch(() => null), patience])
        if (next === null || next.done) break
        bytes += next.value.byteLength
      }
      // Does not wait for a slow sender.
      iterator.return?.().catch(ignore)
    },

    /** Yields everything before the delimiter and consumes it. */
    async *until(delimiter: string): AsyncGenerator<Uint8Array> {
      for (;;) {
        const at = held.indexOf(delimiter)
        // The delimiter may span two chunks.
        const safe = at >= 0 ? at : held.length - delimiter.length + 1
        if (safe > 0) {
          const ready = held.subarray(0, safe)
          held = held.subarray(safe)
          yield ready
        }
        if (at >= 0) {
          held = held.subarray(delimiter.length)
          return
        }
        await fill()
      }
    },

    async take(length: number): Promise<string> {
      while (held.length < length) await fill()
      const taken = held.toString('latin1', 0, length)
      held = held.subarray(length)
      return taken
    },

    async head(): Promise<string> {
      let at = held.indexOf(END_OF_HEAD)
      while (at < 0) {
        if (held.length > MAX_HEAD) throw broken()
        await fill()
        at = held.indexOf(END_OF_HEAD)
      }
      const text = held.toString('utf8', 0, at)
      held = held.subarray(at + END_OF_HEAD.length)
      return text
    },
  }
}

function readHead(head: string): Pick<Part, 'name' | 'fileName'> {
  const line = head.split('\r\n').find((one) => /^content-disposition:/i.test(one)) ?? ''
  const encoded = /; *filename\*=UTF-8''([^;\s]+)/i.exec(line)?.[1]
  const fileName = encoded === undefined ? parameter(line, FILE_NAME) : decodeUri(encoded)
  return { name: parameter(line, NAME) ?? '', fileName }
}

/** Parameters of `Content-Disposition`, quoted or not. */
const NAME = /; *name=(?:"((?:[^"\\]|\\.)*)"|([^;\s"]+))/i
const FILE_NAME = /; *filename=(?:"((?:[^"\\]|\\.)*)"|([^;\s"]+))/i

function parameter(line: string, pattern: RegExp): string | null {
  const [, quoted, plain] = pattern.exec(line) ?? []
  const text = quoted?.replace(/\\(["\\])/g, '$1') ?? plain
  // Browsers escape only the characters that would end the parameter.
  return text?.replace(/%(22|0D|0A)/gi, decodeUri) ?? null
}

/** Ignores client disconnects while draining. */
const ignore = (): void => {}

const broken = () => badRequest(m.request_error_unreadable_body())
