import { describe, expect, test } from 'bun:test'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createTrpcClient } from '../support/client.ts'
import { KEPT_FOLDERS, type Kept, readTables } from '../support/kept-folder.ts'
import { openPlace } from './support.ts'

const archives = [...new Bun.Glob('*-sqlite.tar.gz').scanSync(KEPT_FOLDERS)].sort()

describe('sheaf move of data folders of earlier releases', () => {
  test.each(archives)('%s goes to PostgreSQL and back', async (archive) => {
    const place = await openPlace()
    try {
      const packed = await Bun.file(join(KEPT_FOLDERS, archive)).bytes()
      for (const [name, file] of await new Bun.Archive(packed).files()) {
        mkdirSync(dirname(join(place.dataDir, name)), { recursive: true })
        writeFileSync(join(place.dataDir, name), await file.bytes())
      }
      const kept: Kept = JSON.parse(readFileSync(join(place.dataDir, 'kept.json'), 'utf8'))
      for (const engine of ['postgres', 'sqlite'] as const) {
        const { exitCode, output } = await place.move(['--to', engine])
        expect([exitCode, output]).toEqual([0, expect.stringContaining('every cell compared')])
        const removed = await place.move(['--to', engine, '--remove-source'])
        expect([removed.exitCode, removed.output]).toEqual([0, expect.stringContaining('Removed')])
        if (engine === 'postgres') continue
        const server = await place.start(engine)
        const { token } = await createTrpcClient(server.url).auth.signIn.mutate(kept)
        const bases = await createTrpcClient(server.url, token).bases.list.query()
        const base = bases.find(({ title }) => title === kept.baseTitle)
        const tables = await readTables(server.url, token, base?.id ?? '')
        await server.end('SIGTERM')
        expect(tables).toMatchObject(kept.tables)
      }
    } finally {
      await place.remove()
    }
  })
})
