import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSecrets } from '../../src/secrets.ts'

let dataDir: string
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'sheaf-secrets-'))
})
afterEach(() => rmSync(dataDir, { recursive: true, force: true }))

const open = () =>
  new TextDecoder().decode(openSecrets({ dataDir, jwtSecret: null, connectionSecret: null }).jwt)

describe('the secrets of an installation', () => {
  test('are made once, in a file that only the owner may read', () => {
    const made = open()
    expect(made).toHaveLength(64)
    expect(open()).toBe(made)
    const folder = join(dataDir, 'secrets')
    expect(readdirSync(folder).toSorted()).toEqual(['connections.secret', 'jwt.secret'])
    expect(statSync(join(folder, 'jwt.secret')).mode & 0o777).toBe(0o600)
  })

  // A full disk, or a stop in the middle of the first start, leaves such a file.
  test.each(['', '\n', 'half'])('are made anew where the file holds %p: nobody may guess a key', (text) => {
    mkdirSync(join(dataDir, 'secrets'))
    const file = join(dataDir, 'secrets', 'jwt.secret')
    writeFileSync(file, text)
    const made = open()
    expect(made).toHaveLength(64)
    expect(readFileSync(file, 'utf8')).toBe(made)
    expect(open()).toBe(made)
  })
})
