import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import project from '../package.json'
import { startServerProcess } from './imports/server-process.ts'
import { PASSWORD } from './support/app.ts'
import { createTrpcClient } from './support/client.ts'
import { SERVER_MAIN } from './support/server-main.ts'
import { createDatabase } from './support/servers.ts'
import { startSmtpServer } from './support/smtp-server.ts'
import { writeProtect } from './support/write-protect.ts'

const ROOT = join(import.meta.dir, '..')
const folder = mkdtempSync(join(tmpdir(), 'sheaf-commands-'))
const dataDir = join(folder, 'data')

/** Runs the program with these arguments; `port` 0 is free, so that runs do not disturb each other. */
async function sheaf(args: string[], env: Record<string, string> = {}) {
  const child = Bun.spawn([process.execPath, SERVER_MAIN, ...args], {
    cwd: ROOT,
    env: { ...process.env, DATA_DIR: dataDir, PORT: '0', DATABASE_URL: '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [output, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { code: await child.exited, output, errors }
}

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the command line', () => {
  test('rejects what it does not know, and starts nothing', async () => {
    for (const [args, message] of [
      [['serve'], 'There is no command serve'],
      [['--port'], 'There is no option --port'],
      [['constructor'], 'There is no command constructor'],
    ] as const) {
      const { code, output, errors } = await sheaf([...args])
      expect([code, output]).toEqual([2, ''])
      expect(errors).toContain(message)
    }
    expect((await sheaf(['check', '--everything'])).code).toBe(2)
    expect(existsSync(dataDir)).toBe(false)
  })

  test('says that no server listens where health is asked for', async () => {
    const { code, output } = await sheaf(['health'], { HOST: '127.0.0.1', PORT: '1' })
    expect([code, output]).toEqual([1, 'No server listens on http://127.0.0.1:1\n'])
  })

  test('says what there is, and the version', async () => {
    expect(await sheaf(['--version'])).toEqual({ code: 0, output: `${project.version}\n`, errors: '' })
    const help = await sheaf(['--help'])
    expect([help.code, help.errors]).toEqual([0, ''])
    expect(help.output).toMatch(/^ {2}check {2,}\S/m)
    expect((await sheaf(['check', '--help'])).output).toStartWith('Usage: sheaf check')
  })
})

describe('sheaf check', () => {
  const baseFiles = () => readdirSync(join(dataDir, 'bases')).filter((name) => name.endsWith('.db'))

  test('accepts a first start and creates nothing', async () => {
    const { code, output } = await sheaf(['check'])
    expect([code, output]).toEqual([0, expect.stringContaining('does not exist yet and can be created')])
    expect(existsSync(dataDir)).toBe(false)
  })

  test('names every wrong setting at once', async () => {
    const { code, output } = await sheaf(['check'], { PORT: '70000', LOG_LEVEL: 'loud', JWT_SECRET: 'short' })
    expect(code).toBe(1)
    for (const name of ['PORT', 'LOG_LEVEL', 'JWT_SECRET'])
      expect(output).toMatch(new RegExp(`^FAIL {2}${name} `, 'm'))
    expect(output).not.toContain('"short"')
  })

  test('names a data folder that cannot be used, and a port that is taken', async () => {
    const file = join(folder, 'file')
    writeFileSync(file, '')
    const other = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('not this one') })
    const { port } = other
    const { code, output } = await sheaf(['check'], {
      DATA_DIR: join(file, 'data'),
      PORT: String(port),
    })
    await other.stop(true)
    expect(code).toBe(1)
    expect(output).toContain(`FAIL  ${file} is not a folder (DATA_DIR)`)
    expect(output).toContain(`FAIL  The port: Port ${port} of 127.0.0.1 is in use`)
    expect(output).toContain('2 problems found.')
  })

  test('names a bucket that cannot be used, with the reason, and an address with a path', async () => {
    const keys = { S3_ACCESS_KEY_ID: 'key', S3_SECRET_ACCESS_KEY: 'secret of the bucket' }
    const away = await sheaf(['check'], {
      PUBLIC_URL: 'https://example.com/sheaf',
      S3_BUCKET: 'files',
      S3_ENDPOINT: 'http://127.0.0.1:1',
      ...keys,
    })
    expect(away.output).toContain('FAIL  The bucket files (S3_BUCKET): its server refuses the connection\n')
    expect(away.output).toContain('FAIL  PUBLIC_URL has a path')
    expect(away.output).toContain('2 problems found.')
    expect(away.output).not.toContain(keys.S3_SECRET_ACCESS_KEY)
    const server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: () => new Response(null, { status: 403 }),
    })
    const refused = await sheaf(['check'], {
      PUBLIC_URL: '',
      S3_BUCKET: 'files',
      S3_ENDPOINT: server.url.href,
      ...keys,
    })
    await server.stop(true)
    expect(refused.output).toContain('(S3_BUCKET): its server refuses the request without a reason')
    expect((await sheaf(['check'], { S3_BUCKET: 'files', S3_ACCESS_KEY_ID: '' })).output).toContain(
      '(S3_BUCKET): an access key is needed (S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY)',
    )
  })

  describe('of an installation', () => {
    let running: Awaited<ReturnType<typeof sheaf>>

    beforeAll(async () => {
      const server = await startServerProcess(dataDir)
      await createTrpcClient(server.url).auth.signUp.mutate({ email: 'a@example.com', password: PASSWORD })
      running = await sheaf(['check', '--full'], { PORT: new URL(server.url).port })
      await server.end('SIGTERM')
    })

    test('accepts it while its server runs', () => {
      expect(running.output).toContain('note  A Sheaf server already answers')
      expect(running.code).toBe(0)
    })

    test('names a file that the server may only read', async () => {
      for (const name of ['sheaf.lock', 'sheaf.db', join('bases', baseFiles()[0] ?? '')]) {
        const path = join(dataDir, name)
        const undo = writeProtect(path)
        if (undo === null) return
        const { code, output } = await sheaf(['check']).finally(undo)
        const problem = output.split('\n').find((line) => line.startsWith('FAIL'))
        expect([code, problem]).toEqual([1, expect.stringContaining(`access '${path}'`)])
      }
    })

    test('signs in to the mail server of the account area', async () => {
      const smtp = await startSmtpServer()
      const server = await startServerProcess(dataDir)
      const { token } = await createTrpcClient(server.url).auth.signIn.mutate({
        email: 'a@example.com',
        password: PASSWORD,
      })
      const { smtpHost: host, smtpPort: port, smtpFrom: from } = smtp.config
      const config = {
        host,
        port,
        from,
        secure: false,
        ignoreTLS: true,
        public_url: 'https://sheaf.example.com',
      }
      await createTrpcClient(server.url, token).plugins.save.mutate({ id: 'smtp', config: config as never })
      await server.end('SIGTERM')
      const name = `The mail server ${host} of the account area`
      expect((await sheaf(['check'])).output).toContain(`ok    ${name} accepts the connection`)
      await smtp.go()
      const away = await sheaf(['check'])
      expect([away.code, away.output]).toEqual([1, expect.stringContaining(`FAIL  ${name}: `)])
      const other = await sheaf(['check'], { CONNECTION_SECRET: 'another secret of a server' })
      expect([other.code, other.output]).toEqual([1, expect.stringContaining('stored with another key')])
      const again = await startServerProcess(dataDir)
      await createTrpcClient(again.url, token).plugins.deactivate.mutate({ id: 'smtp', keepConfig: false })
      await again.end('SIGTERM')
    })

    test('accepts it and leaves its files alone', async () => {
      const before = readdirSync(dataDir, { recursive: true }).toSorted()
      const { code, output } = await sheaf(['check', '--full'])
      expect([code, output]).toEqual([0, expect.stringContaining('ok    1 of 1 base files can be read')])
      expect(readdirSync(dataDir, { recursive: true }).toSorted()).toEqual(before)
    })

    test('finds damaged and missing bases, lost keys, and data of a later version', async () => {
      const [name = ''] = baseFiles()
      const path = join(dataDir, 'bases', name)
      truncateSync(path, 3000)
      expect((await sheaf(['check'])).output).toMatch(
        /^FAIL {2}The base “.+” cannot be opened|^FAIL {2}The base “/m,
      )
      rmSync(path)
      const missing = await sheaf(['check'])
      expect([missing.code, missing.output]).toEqual([
        1,
        expect.stringContaining(`(${path}) is missing: restore`),
      ])
      const meta = new Database(join(dataDir, 'sheaf.db'))
      meta.run(`insert into releases values ('99.0.0', '')`)
      meta.close()
      const later = await sheaf(['check'])
      expect([later.code, later.output]).toEqual([1, expect.stringContaining('was written by Sheaf 99.0.0')])
      writeFileSync(join(dataDir, 'sheaf.db'), '')
      const lost = await sheaf(['check'])
      expect(lost.output).toContain('sheaf.db is missing or empty, but there are bases')
    })
  })

  test('looks into PostgreSQL, its rights and its connections', async () => {
    const database = await createDatabase('postgres')
    try {
      const empty = await sheaf(['check'], { DATABASE_URL: database.url, DATA_DIR: join(folder, 'pg') })
      expect([empty.code, empty.output]).toEqual([0, expect.stringContaining('The database is empty')])
      const greedy = await sheaf(['check'], { DATABASE_URL: database.url, DATABASE_CONNECTIONS: '1000' })
      expect(greedy.output).toMatch(/^FAIL {2}1000 connections per server .+ allows \d+ in all$/m)
      const away = await sheaf(['check'], { DATABASE_URL: 'postgres://nobody:secretword@127.0.0.1:1/none' })
      expect(away.code).toBe(1)
      expect(away.output).toMatch(/^FAIL {2}The database of DATABASE_URL: /m)
      expect(away.output).not.toContain('secretword')
    } finally {
      await database.drop()
    }
  })
})
