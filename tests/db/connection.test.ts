import { describe, expect, test } from 'bun:test'
import {
  type ConnectionConfig,
  openConnection,
  postgresConnection,
  sealConnection,
} from '../../src/db/connection.ts'

const key = (fill: number) => new Uint8Array(32).fill(fill)
const CONFIG: ConnectionConfig = {
  client: 'pg',
  host: 'db.example.com',
  port: 5432,
  user: 'ann',
  password: 'gehéim',
  database: 'shop',
  schema: 'sales',
  ssl: { mode: 'verify-full', ca: '-----BEGIN' },
}

describe('a sealed connection', () => {
  test('comes back whole, and tells nobody anything without the key', () => {
    const sealed = sealConnection(key(1), CONFIG)
    expect(openConnection(key(1), sealed)).toEqual(CONFIG)
    const bytes = Buffer.from(sealed, 'base64url').toString('latin1')
    for (const secret of ['ann', 'geh', 'example', 'shop']) expect(bytes).not.toContain(secret)
    expect(sealConnection(key(1), CONFIG)).not.toBe(sealed)
  })

  test('is refused with another key, and where a single byte is another', () => {
    const sealed = sealConnection(key(1), CONFIG)
    const bytes = Buffer.from(sealed, 'base64url')
    const altered = [0, 1, 13, 29, bytes.length - 1].map((at) => {
      const copy = Buffer.from(bytes)
      copy[at] = (copy[at] ?? 0) ^ 1
      return copy.toString('base64url')
    })
    expect(() => openConnection(key(2), sealed)).toThrow('Enter them again')
    for (const text of [...altered, '', 'nonsense', sealed.slice(0, 20)]) {
      expect(() => openConnection(key(1), text)).toThrow('Enter them again')
    }
  })
})

test('an address of PostgreSQL is read as drivers read it', () => {
  expect(postgresConnection('postgres://a%40b:p%3Aw@[::1]:6000/my%20db?sslmode=require')).toEqual({
    client: 'pg',
    host: '::1',
    port: 6000,
    user: 'a@b',
    password: 'p:w',
    database: 'my db',
    ssl: { mode: 'require' },
  })
  expect(postgresConnection('postgres://ann@db')).toMatchObject({ port: 5432, database: 'ann', password: '' })
  expect(() => postgresConnection('postgres://ann@db/x?sslmode=perhaps')).toThrow()
})
