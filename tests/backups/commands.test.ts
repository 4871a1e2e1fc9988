import { afterAll, afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { constants, getPriority } from 'node:os'
import { join } from 'node:path'
import project from '../../package.json'
import { snapshot } from '../move/support.ts'
import { createRestClient } from '../support/client.ts'
import { SERVER_MAIN } from '../support/server-main.ts'
import { mountSmallVolume } from '../support/small-volume.ts'
import { BACKUP_TIMEOUT_MS, backupIn, enter, fill, openPlace, type Place, setVersion } from './support.ts'

setDefaultTimeout(BACKUP_TIMEOUT_MS)

let place: Place
beforeEach(() => {
  place = openPlace()
})
afterEach(() => place.remove())

const packsIn = (folder: string): string[] =>
  readdirSync(join(folder, 'packs'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

describe('sheaf backup', () => {
  test('rejects wrong options, a place that is none and a missing installation, and creates nothing', async () => {
    const noPlace = await place.sheaf(['backup'])
    expect([noPlace.code, noPlace.errors]).toEqual([2, expect.stringContaining('BACKUP_TARGET')])
    expect((await place.sheaf(['backup', '--to', place.backups, '--keep-last', 'x'])).code).toBe(2)
    expect((await place.sheaf(['backup', '--everything'])).code).toBe(2)
    for (const target of ['ftp://host/x', 's3://', 's3://B/x', 'file:']) {
      const { code, errors } = await place.sheaf(['backup', '--to', target])
      expect([code, errors]).toEqual([1, expect.stringMatching(/place for backups|address of a bucket/)])
    }
    const file = place.path('file')
    writeFileSync(file, 'no folder')
    for (const target of [file, join(file, 'backups')]) {
      const { code, errors } = await place.sheaf(['backup', '--to', target])
      expect([code, errors]).toEqual([1, `The folder ${target} cannot be used: it is a file, or below one\n`])
    }
    const noPassphrase = ['backup', '--to', place.backups, '--passphrase-file']
    expect((await place.sheaf([...noPassphrase, `${file}2`])).errors).toContain(
      `${file}2 cannot be used: it does not exist`,
    )
    expect((await place.sheaf([...noPassphrase, place.folder])).errors).toContain('it is a folder')
    const empty = await place.sheaf(['backup', '--to', place.backups])
    expect([empty.code, empty.errors]).toEqual([1, expect.stringContaining('There is no data in')])
    const none = await place.sheaf(['backup', '--list', '--to', place.path('nothing')])
    expect([none.code, none.errors]).toEqual([1, expect.stringContaining('There are no backups in')])
    expect(existsSync(place.path('nothing'))).toBe(false)
  })

  test('refuses a place in the data folder and one that has it inside, for backups, upgrades and restores', async () => {
    mkdirSync(join(place.dataDir, 'bases'), { recursive: true })
    symlinkSync(place.dataDir, place.path('link'))
    const inside = [place.dataDir, join(place.dataDir, 'bases', 'new'), place.path('link', 'new')]
    for (const command of ['backup', 'upgrade']) {
      for (const target of inside) {
        const { code, errors } = await place.sheaf([command, '--to', target])
        expect([code, errors]).toEqual([
          1,
          expect.stringMatching(/would be in the data folder .* Name another folder/),
        ])
      }
      const around = await place.sheaf([command, '--to', place.folder])
      expect(around.errors).toContain('has the data folder')
    }
    expect(readdirSync(place.dataDir)).toEqual(['bases'])
    expect(readdirSync(join(place.dataDir, 'bases'))).toEqual([])
    // Upgrades keep their backups there.
    const own = await place.sheaf(['backup', '--to', join(place.dataDir, 'backups')])
    expect(own.errors).toContain('There is no data in')
    const from = ['restore', '--from', place.backups]
    expect((await place.sheaf([...from, '--to', place.backups])).errors).toContain('in the data folder')
    expect((await place.sheaf([...from, '--to', join(place.backups, 'new')])).errors).toContain(
      'Name a folder that is only for backups',
    )
    const file = await place.sheaf([...from, '--base', 'p', '--file', join(place.backups, 'base.db')])
    expect(file.errors).toContain('is in the folder of the backups')
  })

  test('stores what a running server has, and restores it elsewhere to the same cells', async () => {
    const server = await place.start()
    const { trpc, rest, token, path } = await fill(server.url, 3_000)
    const form = new FormData()
    form.append('files', new File(['a photo'], 'photo.txt', { type: 'text/plain' }))
    const sent = await fetch(`${server.url}/api/v2/storage/upload`, {
      method: 'POST',
      headers: { 'xc-auth': token },
      body: form,
    })
    expect((await rest.patch(path, { Id: 1, Photo: await sent.json() })).status).toBe(200)
    const before = await snapshot(trpc)
    const made = await place.sheaf(['backup', '--to', `file:${place.backups}`, '--with-secrets', '--test'])
    expect([made.code, made.errors]).toEqual([0, ''])
    expect(made.output).toContain('Restored it into a temporary folder')
    // Later changes are not in it.
    expect((await rest.patch(path, { Id: 2, Name: 'Later' })).status).toBe(200)
    await server.end('SIGTERM')

    const other = place.path('other')
    const restored = await place.sheaf(['restore', '--from', place.backups, '--to', other])
    expect([restored.code, restored.errors]).toEqual([0, ''])
    const again = await place.start(other)
    // Secrets are restored, so the session is still valid.
    const { trpc: there, rest: restThere } = {
      ...(await enter(again.url)),
      rest: createRestClient(again.url, token),
    }
    expect(await snapshot(there)).toEqual(before)
    const [photo] = (await restThere.get(`${path}/1`)).body.Photo
    expect(await (await fetch(`${again.url}/${photo.signedPath}`)).text()).toBe('a photo')
    expect((await restThere.post(path, { Name: 'New' })).status).toBe(200)
    await again.end('SIGTERM')
    expect(readdirSync(other).filter((name) => /^(restore-|replaced-)/.test(name))).toEqual([])
  })

  test('has a state that existed at one moment while records are written all the time', async () => {
    const server = await place.start()
    const { rest, path } = await fill(server.url, 2_000)
    let isWriting = true
    let last = 2_000
    const writing = (async () => {
      while (isWriting) {
        last++
        const answer = await rest.post(path, { Name: `Order ${last - 1}`, Qty: last - 1 })
        expect(answer.status).toBe(200)
        // Leaves some time to the backups, which have the lowest priority.
        await Bun.sleep(5)
      }
    })()
    const ids: string[] = []
    const known: number[] = []
    for (let round = 0; round < 2; round++) {
      ids.push(backupIn(await place.sheaf(['backup', '--to', place.backups, '--with-secrets', '--test'])))
      known.push(last)
    }
    isWriting = false
    await writing
    await server.end('SIGTERM')
    for (const [at, id] of ids.entries()) {
      const folder = place.path(`restored${at}`)
      const restored = await place.sheaf(['restore', '--from', place.backups, '--backup', id, '--to', folder])
      expect([restored.code, restored.errors]).toEqual([0, ''])
      const there = await place.start(folder)
      const { rest: restThere } = await enter(there.url)
      const { body } = await restThere.get(`${path}/count`)
      expect(body.count).toBeGreaterThanOrEqual(known[at - 1] ?? 2_000)
      expect(body.count).toBeLessThanOrEqual(known[at] ?? 0)
      // No record is missing before the last one.
      const { body: page } = await restThere.get(`${path}?sort=-Id&limit=1`)
      expect(page.list[0]).toMatchObject({ Id: body.count, Qty: body.count - 1 })
      await there.end('SIGKILL')
    }
  })

  test.skipIf(process.platform !== 'linux')('runs at the lowest priority', async () => {
    const server = await place.start()
    await fill(server.url, 1_000)
    const child = Bun.spawn([process.execPath, SERVER_MAIN, 'backup', '--to', place.backups], {
      env: { ...process.env, DATABASE_URL: '', DATA_DIR: place.dataDir },
      stdio: ['ignore', 'ignore', 'ignore'],
    })
    let highest = 0
    while (child.exitCode === null) {
      highest = Math.max(highest, getPriority(child.pid))
      await Bun.sleep(2)
    }
    expect([child.exitCode, highest]).toEqual([0, constants.priority.PRIORITY_LOW])
    await server.end('SIGTERM')
  })

  test('stores only what has changed, and removes what the retention does not keep', async () => {
    const server = await place.start()
    const { rest, path } = await fill(server.url, 20_000)
    const first = backupIn(await place.sheaf(['backup', '--to', place.backups]))
    const sizeOf = () => packsIn(place.backups).reduce((sum, file) => sum + statSync(file).size, 0)
    const firstSize = sizeOf()
    await rest.patch(path, { Id: 7, Name: 'Changed' })
    const second = backupIn(await place.sheaf(['backup', '--to', place.backups]))
    expect(sizeOf() - firstSize).toBeLessThan(firstSize / 2)
    await rest.patch(path, { Id: 8, Name: 'Changed' })
    const third = await place.sheaf(['backup', '--to', place.backups, '--keep-last', '2'])
    expect(third.output).toContain('Removed 1 old backup:')
    const { output } = await place.sheaf(['backup', '--list', '--to', place.backups])
    expect(output.split('\n').filter((line) => line !== '')).toEqual([
      expect.stringContaining(backupIn(third)),
      expect.stringContaining(second),
    ])
    expect(output).not.toContain(first)
    const checked = await place.sheaf(['backup', '--verify', second, '--to', place.backups])
    expect([checked.code, checked.errors]).toEqual([0, ''])
    await server.end('SIGTERM')
  })

  test('encrypts with a passphrase, which nothing works without', async () => {
    const server = await place.start()
    await fill(server.url, 10)
    const secret = { BACKUP_PASSPHRASE: 'a long passphrase of mine' }
    const id = backupIn(await place.sheaf(['backup', '--to', place.backups], secret))
    await server.end('SIGTERM')
    const stored = readdirSync(place.backups, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name)))
    for (const bytes of stored)
      expect(bytes.includes('Order 5') || bytes.includes('SQLite format')).toBe(false)
    for (const [env, message] of [
      [{}, 'These backups are encrypted'],
      [{ BACKUP_PASSPHRASE: 'another long passphrase' }, 'The passphrase is not the one of these backups'],
    ] as const) {
      for (const args of [
        ['restore', '--from', place.backups, '--to', place.path('other')],
        ['backup', '--to', place.backups],
      ]) {
        const { code, errors } = await place.sheaf(args, env)
        expect([code, errors]).toEqual([1, expect.stringContaining(message)])
      }
    }
    const file = place.path('passphrase')
    writeFileSync(file, `${secret.BACKUP_PASSPHRASE}\n`)
    const restored = await place.sheaf([
      ...['restore', '--from', place.backups, '--backup', id, '--to', place.path('other')],
      ...['--passphrase-file', file],
    ])
    expect([restored.code, restored.errors]).toEqual([0, ''])
    // Encrypted backups have the keys of the installation.
    expect(readdirSync(place.path('other', 'secrets'))).toContain('jwt.secret')
    // Once a place has unencrypted backups, a passphrase is refused instead of ignored.
    const plain = place.path('plain')
    backupIn(await place.sheaf(['backup', '--to', plain]))
    expect((await place.sheaf(['backup', '--to', plain], secret)).errors).toContain('are not encrypted')
  })

  test('finds a damaged and a missing chunk, names the file, and stores them again with the next backup', async () => {
    const server = await place.start()
    await fill(server.url, 3_000)
    // What a running server writes meanwhile would be in other chunks.
    await server.end('SIGTERM')
    const id = backupIn(await place.sheaf(['backup', '--to', place.backups]))
    const alter = (path: string) => {
      const bytes = readFileSync(path)
      for (let at = 100; at < bytes.length; at += 1_000) bytes[at] = (bytes[at] ?? 0) ^ 1
      writeFileSync(path, bytes)
    }
    for (const damage of [alter, (path: string) => rmSync(path)]) {
      for (const path of packsIn(place.backups)) damage(path)
      const restored = await place.sheaf(['restore', '--from', place.backups, '--to', place.path('other')])
      expect([restored.code, restored.errors]).toEqual([
        1,
        expect.stringMatching(/\.db cannot be restored: .*chunk/),
      ])
      expect(existsSync(place.path('other', 'sheaf.db'))).toBe(false)
      const checked = await place.sheaf(['backup', '--verify', id, '--to', place.backups])
      expect(checked.code).toBe(1)
      expect(checked.output).toMatch(
        /^FAIL {2}(sheaf|bases\/p\w{14})\.db: \d+ of \d+ chunks are missing or damaged$/m,
      )
      backupIn(await place.sheaf(['backup', '--to', place.backups]))
      const healed = await place.sheaf(['backup', '--verify', id, '--to', place.backups])
      expect([healed.code, healed.output]).toEqual([0, expect.stringContaining('are as they were backed up')])
    }
  })

  test('stores anew what a damaged index has listed', async () => {
    const server = await place.start()
    await fill(server.url, 100)
    // What a running server writes meanwhile would be in other chunks.
    await server.end('SIGTERM')
    const id = backupIn(await place.sheaf(['backup', '--to', place.backups]))
    const indexes = join(place.backups, 'indexes')
    for (const name of readdirSync(indexes)) writeFileSync(join(indexes, name), 'damaged')
    const refused = await place.sheaf(['restore', '--from', place.backups, '--to', place.path('other')])
    expect([refused.code, refused.errors]).toEqual([1, expect.stringContaining('is missing')])
    backupIn(await place.sheaf(['backup', '--to', place.backups, '--keep-last', '5']))
    const healed = await place.sheaf(['backup', '--verify', id, '--to', place.backups])
    expect([healed.code, healed.errors]).toEqual([0, ''])
  })

  const volume = mountSmallVolume(4)
  afterAll(() => {
    if (!('reason' in volume)) volume.remove()
  })
  test.skipIf('reason' in volume)('a full disk leaves the earlier backups and a clear error', async () => {
    if ('reason' in volume) return
    const server = await place.start()
    const target = join(volume.path, 'backups')
    const { rest, path } = await fill(server.url, 100)
    const id = backupIn(await place.sheaf(['backup', '--to', target]))
    const noise = () => Buffer.from(crypto.getRandomValues(new Uint8Array(6_000))).toString('base64')
    for (let round = 0; round < 10; round++)
      await rest.post(
        path,
        Array.from({ length: 100 }, () => ({ Name: noise() })),
      )
    const failed = await place.sheaf(['backup', '--to', target])
    expect([failed.code, failed.errors]).toEqual([1, expect.stringMatching(/ENOSPC|no space/i)])
    await server.end('SIGTERM')
    const { output } = await place.sheaf(['backup', '--list', '--to', target])
    expect(output.trim().split('\n')).toEqual([expect.stringContaining(id)])
    const restored = await place.sheaf(['restore', '--from', target, '--to', place.path('other')])
    expect([restored.code, restored.errors]).toEqual([0, ''])
  })

  test('goes on in a place that has backups of a later version, as after a rollback', async () => {
    const server = await place.start()
    await fill(server.url, 10)
    const later = backupIn(await place.sheaf(['backup', '--to', place.backups]))
    await setVersion(join(place.backups, 'manifests', later), '99.0.0')
    const made = await place.sheaf(['backup', '--to', place.backups, '--keep-last', '5', '--test'])
    expect([made.code, made.errors]).toEqual([0, ''])
    await setVersion(join(place.backups, 'manifests', later), project.version)
    const kept = await place.sheaf(['backup', '--verify', later, '--to', place.backups])
    expect([kept.code, kept.errors]).toEqual([0, ''])
    await server.end('SIGTERM')
  })
})

describe('sheaf restore', () => {
  test('refuses a folder with data, options without effect, a running server and a backup of a later version, and changes nothing', async () => {
    const server = await place.start()
    await fill(server.url, 10)
    const id = backupIn(await place.sheaf(['backup', '--to', place.backups]))
    const running = await place.sheaf(['restore', '--from', place.backups, '--replace'])
    expect([running.code, running.errors]).toEqual([
      1,
      expect.stringContaining('Another server is already using'),
    ])
    await server.end('SIGTERM')
    const full = await place.sheaf(['restore', '--from', place.backups])
    expect([full.code, full.errors]).toEqual([1, expect.stringContaining('has data already')])
    const from = ['restore', '--from', place.backups]
    const file = place.path('file')
    writeFileSync(file, 'no folder')
    expect((await place.sheaf([...from, '--to', file])).errors).toContain(
      `${file} cannot be used: it is a file`,
    )
    for (const [more, message] of [
      [['--to', ''], '--to needs a folder'],
      [['--title', 'x', '--replace'], '--title has no effect without --at'],
      [['--base', 'p1', '--file', file, '--replace'], '--replace has no effect with --file'],
    ] as const) {
      const wrong = await place.sheaf([...from, ...more])
      expect([wrong.code, wrong.errors]).toEqual([2, expect.stringContaining(message)])
    }
    const unknown = await place.sheaf([
      'restore',
      '--from',
      place.backups,
      '--backup',
      '../../etc/passwd',
      '--replace',
    ])
    expect([unknown.code, unknown.errors]).toEqual([1, expect.stringContaining('There is no backup')])
    const path = join(place.backups, 'manifests', id)
    await setVersion(path, '99.0.0')
    const later = await place.sheaf(['restore', '--from', place.backups, '--to', place.path('other')])
    expect([later.code, later.errors]).toEqual([1, expect.stringContaining('was written by Sheaf 99.0.0')])
    rmSync(path)
    expect((await place.sheaf(['restore', '--from', place.backups])).errors).toContain('There are no backups')
  })

  test('--replace keeps the former data in a folder', async () => {
    const server = await place.start()
    const { rest, path } = await fill(server.url, 10)
    backupIn(await place.sheaf(['backup', '--to', place.backups, '--with-secrets']))
    await rest.patch(path, { Id: 1, Name: 'Later' })
    await server.end('SIGTERM')
    const restored = await place.sheaf(['restore', '--from', place.backups, '--replace'])
    expect([restored.code, restored.errors]).toEqual([0, ''])
    const [former = ''] = readdirSync(place.dataDir).filter((name) => name.startsWith('replaced-'))
    const nameOf = async (dataDir: string) => {
      const there = await place.start(dataDir)
      const { rest: restThere } = await enter(there.url)
      const { Name } = (await restThere.get(`${path}/1`)).body
      await there.end('SIGTERM')
      return Name
    }
    expect(await nameOf(place.dataDir)).toBe('Order 0')
    expect(await nameOf(join(place.dataDir, former))).toBe('Later')
  })

  test('--base writes the file of one base', async () => {
    const server = await place.start()
    const { baseId } = await fill(server.url, 10)
    backupIn(await place.sheaf(['backup', '--to', place.backups]))
    await server.end('SIGTERM')
    const file = place.path('shop.db')
    const args = ['restore', '--from', place.backups, '--base', baseId, '--file', file]
    const nowhere = await place.sheaf([...args.slice(0, -1), place.path('none', 'shop.db')])
    expect([nowhere.code, nowhere.errors]).toEqual([1, `There is no folder ${place.path('none')}\n`])
    // A damaged backup leaves no part of a file.
    for (const pack of packsIn(place.backups)) renameSync(pack, `${pack}.lost`)
    expect((await place.sheaf(args)).code).toBe(1)
    expect(readdirSync(place.folder).filter((name) => name.startsWith('shop'))).toEqual([])
    for (const pack of packsIn(place.backups)) renameSync(pack, pack.replace(/\.lost$/, ''))
    expect((await place.sheaf(args)).errors).toBe('')
    expect(readFileSync(file).subarray(0, 15).toString()).toBe('SQLite format 3')
    expect((await place.sheaf(args)).errors).toContain('exists already')
    expect((await place.sheaf([...args.slice(0, 3), '--base', 'p0', '--file', `${file}2`])).errors).toContain(
      'has no base p0',
    )
  })

  test('--at restores one base to an earlier time as a new one', async () => {
    const server = await place.start()
    const { rest, trpc: there, baseId, path } = await fill(server.url, 10)
    const gone = await there.schema.createTable.mutate({ baseId, title: 'Gone' })
    await Bun.sleep(20)
    const at = new Date().toISOString()
    await Bun.sleep(20)
    await rest.patch(path, { Id: 1, Name: 'Later' })
    const tableId = gone.table.id
    await there.schema.deleteTable.mutate({ tableId })
    await there.trash.purge.mutate({ baseId, items: [{ kind: 'table', tableId }] })
    const args = ['restore', '--base', baseId, '--at', at, '--title', 'Shop before']
    const running = await place.sheaf(args)
    expect([running.code, running.errors]).toEqual([1, expect.stringContaining('Another server is already')])
    await server.end('SIGTERM')
    for (const [more, message] of [
      [['--at', 'yesterday'], '--at needs a time such as'],
      [['--at', at, '--from', place.backups], '--from has no effect with --at'],
    ] as const) {
      const wrong = await place.sheaf(['restore', '--base', baseId, ...more])
      expect([wrong.code, wrong.errors]).toEqual([2, expect.stringContaining(message)])
    }
    const future = await place.sheaf(['restore', '--base', baseId, '--at', '2999-01-01'])
    expect([future.code, future.errors]).toEqual([1, expect.stringContaining('future')])
    const restored = await place.sheaf(args)
    expect([restored.code, restored.errors]).toEqual([0, ''])
    expect(restored.output).toContain('deleted forever since: the table “Gone”')
    const newId = /as “Shop before” \((p\w+)\)/.exec(restored.output)?.[1] ?? ''
    const again = await place.start()
    const { trpc, rest: restThere } = await enter(again.url)
    const [table] = await trpc.schema.tables.query({ baseId: newId })
    expect((await restThere.get(`/api/v2/tables/${table?.id}/records/1`)).body.Name).toBe('Order 0')
    expect((await restThere.get(`${path}/1`)).body.Name).toBe('Later')
    await again.end('SIGTERM')
  })
})
