import { SMTPServer } from 'smtp-server'
import type { Config } from '../../src/config.ts'
import { findFreePort } from './free-port.ts'
import { until } from './until.ts'

/** A received mail. */
interface ReceivedMail {
  /** Envelope recipients. */
  recipients: string[]
  /** Names in lower case; encoded words are decoded. */
  headers: Record<string, string>
  /** Decoded parts. */
  text: string
  html: string
  /** The source of the whole mail. */
  raw: string
}

export type SmtpRecorder = Awaited<ReturnType<typeof startSmtpServer>>

/** A mail server on a free port of 127.0.0.1 that records mails and can be stopped temporarily. */
export async function startSmtpServer({ account }: { account?: { user: string; pass: string } } = {}) {
  const mails: ReceivedMail[] = []
  const port = await findFreePort()
  /** Addresses that it rejects. */
  const unknown = new Set<string>()
  let server: SMTPServer | null = null

  function create(): SMTPServer {
    return new SMTPServer({
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
      authOptional: account === undefined,
      onAuth: ({ username, password }, _session, done) =>
        username === account?.user && password === account?.pass
          ? done(null, { user: username })
          : done(new Error(`No such account, or not ${password}`)),
      onRcptTo: ({ address }, _session, done) =>
        unknown.has(address)
          ? done(Object.assign(new Error('No such mailbox'), { responseCode: 550 }))
          : done(),
      onData(stream, { envelope }, done) {
        const chunks: Buffer[] = []
        stream.on('data', (chunk: Buffer) => chunks.push(chunk))
        stream.on('end', async () => {
          recorder.arrived++
          await recorder.accepting
          mails.push(
            read(
              Buffer.concat(chunks).toString('utf8'),
              envelope.rcptTo.map(({ address }) => address),
            ),
          )
          done()
        })
      },
    })
  }

  async function come(): Promise<void> {
    const made = create()
    made.on('error', () => {}) // A client that hangs up.
    await new Promise<void>((resolve, reject) => {
      made.once('error', reject)
      made.listen(port, '127.0.0.1', resolve)
    })
    server = made
  }

  async function go(): Promise<void> {
    const gone = server
    server = null
    if (gone) await new Promise<void>((resolve) => gone.close(resolve))
  }

  const recorder = {
    /** Mails are accepted once it resolves. */
    accepting: Promise.resolve(),
    /** The number of mails, also of those that are not accepted yet. */
    arrived: 0,
    mails,
    unknown,
    /** Configuration for sending through this server. */
    config: {
      smtpHost: '127.0.0.1',
      smtpPort: port,
      smtpFrom: 'Sheaf <sheaf@example.com>',
      smtpUsername: account?.user ?? null,
      smtpPassword: account?.pass ?? null,
      publicUrl: 'https://sheaf.example.com',
    } satisfies Partial<Config>,
    come,
    go,
    /** Resolves with all mails once there are `count`. */
    async waitFor(count: number): Promise<ReceivedMail[]> {
      await until(() => mails.length >= count, `${count} mails`)
      return mails
    },
  }
  await come()
  return recorder
}

function read(raw: string, recipients: string[]): ReceivedMail {
  const { headers, body } = split(raw)
  const boundary = /boundary="([^"]+)"/.exec(headers['content-type'] ?? '')?.[1] ?? ''
  const parts = body.split(`--${boundary}`).map((part) => split(part.replace(/^\r?\n/, '')))
  const part = (type: string) => {
    const found = parts.find(({ headers }) => headers['content-type']?.startsWith(type))
    return found ? decoded(found.body, found.headers['content-transfer-encoding'] ?? '') : ''
  }
  return { recipients, headers, text: part('text/plain'), html: part('text/html'), raw }
}

function split(text: string): { headers: Record<string, string>; body: string } {
  const [head = '', ...rest] = text.split('\r\n\r\n')
  const lines = head.replace(/\r\n[ \t]+/g, ' ').split('\r\n')
  const headers = lines.map((line) => [
    line.slice(0, line.indexOf(':')).toLowerCase(),
    words(line.slice(line.indexOf(':') + 1).trim()),
  ])
  return { headers: Object.fromEntries(headers), body: rest.join('\r\n\r\n') }
}

function decoded(body: string, encoding: string): string {
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString('utf8')
  const plain = encoding === 'quoted-printable' ? quoted(body.replace(/=\r\n/g, '')) : body
  return plain.replaceAll('\r\n', '\n')
}

const words = (text: string): string =>
  text
    .replace(/\?= =\?/g, '?==?')
    .replace(/=\?utf-8\?([QB])\?([^?]*)\?=/gi, (_, kind: string, word: string) =>
      /b/i.test(kind) ? Buffer.from(word, 'base64').toString('utf8') : quoted(word.replaceAll('_', ' ')),
    )

const quoted = (text: string): string =>
  Buffer.from(
    text.replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString('utf8')
