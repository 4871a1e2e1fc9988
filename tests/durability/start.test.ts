import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServer } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { openMeta } from '../../src/db/meta.ts'
import { listen } from '../../src/start-failure.ts'
import { createDatabase } from '../support/servers.ts'
import { writeProtect } from '../support/write-protect.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sheaf-start-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const start = (environment: Record<string, string>) =>
  startServer(readConfig({ PORT: '0', LOG_LEVEL: 'silent', DATA_DIR: join(folder, 'data'), ...environment }))

describe('a server that cannot start', () => {
  test('names the data folder that it cannot use', async () => {
    const file = join(folder, 'file')
    writeFileSync(file, '')
    await expect(start({ DATA_DIR: file })).rejects.toThrow(
      `The data folder ${file} (DATA_DIR) cannot be used`,
    )
  })

  test('names the file that is no database', async () => {
    const path = join(folder, 'sheaf.db')
    writeFileSync(path, 'something else '.repeat(100))
    await expect(start({ DATA_DIR: folder })).rejects.toThrow(
      `${path} cannot be opened: file is not a database`,
    )
  })

  test('names the lock that it cannot take', async () => {
    const dataDir = mkdtempSync(join(folder, 'lock-'))
    const path = join(dataDir, 'sheaf.lock')
    mkdirSync(path)
    await expect(start({ DATA_DIR: dataDir })).rejects.toThrow(`${path} cannot be locked`)
  })

  test('names the lock that it may only read, which would lock nothing', async () => {
    const dataDir = mkdtempSync(join(folder, 'lock-'))
    const path = join(dataDir, 'sheaf.lock')
    writeFileSync(path, '')
    const undo = writeProtect(path)
    if (undo === null) return
    try {
      await expect(start({ DATA_DIR: dataDir })).rejects.toThrow(`${path} cannot be locked`)
    } finally {
      undo()
    }
  })

  test('names the port that is in use', async () => {
    const other = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
    await expect(start({ PORT: String(other.port) })).rejects.toThrow(
      `Port ${other.port} of 127.0.0.1 is in use: end what listens there, or set PORT to another`,
    )
    await other.stop(true)
  })

  test('names a host name that cannot be resolved, on any resolver', async () => {
    const elsewhere = { HOST: 'nowhere.invalid', DATA_DIR: join(folder, 'elsewhere') }
    await expect(start(elsewhere)).rejects.toThrow('HOST is not an address of this machine: nowhere.invalid')
    for (const code of ['ENOENT', 'EINVAL', 'EAGAIN', 'EAI_AGAIN', 'ENOTFOUND', 'EADDRNOTAVAIL']) {
      const fail = () => {
        throw Object.assign(new Error(code), { code })
      }
      expect(() => listen({ host: 'nowhere.invalid', port: 1 }, fail)).toThrow(
        'HOST is not an address of this machine: nowhere.invalid',
      )
    }
  })

  test('tells an address of another machine from a port that needs more rights', () => {
    const fail = (code: string) => () => {
      throw Object.assign(new Error(code), { code })
    }
    expect(() => listen({ host: '192.0.2.1', port: 1 }, fail('EADDRNOTAVAIL'))).toThrow(
      'HOST is not an address of this machine: 192.0.2.1',
    )
    expect(() => listen({ host: 'localhost', port: 80 }, fail('EACCES'))).toThrow(
      'Cannot listen on port 80 of localhost (PORT, HOST): EACCES',
    )
  })

  test('says that no PostgreSQL answers', async () => {
    const DATABASE_URL = 'postgres://ann:secret-password@127.0.0.1:1/sheaf'
    const failure = await start({ DATABASE_URL, DATA_DIR: join(folder, 'p') }).catch((error) => error.message)
    expect(failure).toContain('The database of DATABASE_URL cannot be used: connect ECONNREFUSED')
    expect(failure).not.toContain('secret-password')
  })
})

test('metadata are their owner’s alone, also in a folder that others may enter', async () => {
  const dataDir = mkdtempSync(join(folder, 'open-'))
  chmodSync(dataDir, 0o755)
  const meta = await openMeta({ dataDir, databaseUrl: null })
  const files = readdirSync(dataDir).filter((name) => name.startsWith('sheaf.db'))
  expect(files.toSorted()).toEqual(['sheaf.db', 'sheaf.db-shm', 'sheaf.db-wal'])
  for (const name of files) expect([name, statSync(join(dataDir, name)).mode & 0o077]).toEqual([name, 0])
  await meta.close()
})

describe('metadata of a later version', () => {
  test('is refused, and left as it is', async () => {
    const dataDir = mkdtempSync(join(folder, 'later-'))
    await (await openMeta({ dataDir, databaseUrl: null })).close()
    const file = new Database(join(dataDir, 'sheaf.db'))
    file.run("insert into migrations values ('9999_later.sql', 'now')")
    const meta = openMeta({ dataDir, databaseUrl: null })
    await expect(meta).rejects.toThrow('was written by a later version of Sheaf (9999_later.sql)')
    file.close()
  })

  test('is refused in PostgreSQL, too', async () => {
    const database = await createDatabase('postgres')
    await (await openMeta({ dataDir: folder, databaseUrl: database.url })).close()
    await using sql = new Bun.SQL(database.url, { max: 1 })
    await sql`insert into migrations values ('9999_later.sql', 'now')`
    const meta = openMeta({ dataDir: folder, databaseUrl: database.url })
    await expect(meta).rejects.toThrow('was written by a later version of Sheaf')
    await sql.close()
    await database.drop()
  })
})
