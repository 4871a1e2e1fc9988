import { describe, expect, test } from 'bun:test'
import { readConfig } from '../src/config.ts'

describe('readConfig', () => {
  test.each([
    ['PORT', 'eighty', 'PORT must be a whole number'],
    ['PORT', '70000', 'PORT must be a whole number'],
    ['LOG_LEVEL', 'loud', 'LOG_LEVEL must be one of'],
    ['INVITE_ONLY_SIGNUP', 'maybe', 'INVITE_ONLY_SIGNUP must be true or false'],
    ['JWT_SECRET', 'short', 'JWT_SECRET must have 16 characters'],
    ['PUBLIC_URL', 'javascript:alert(1)', 'PUBLIC_URL must be an http or https address'],
    ['DATABASE_URL', 'mysql://x', 'DATABASE_URL must begin with postgres://'],
    [
      'MAP_TILES_URL',
      'https://tiles.example.com/',
      'MAP_TILES_URL must be an http or https address with {z}',
    ],
    ['MAP_TILES_URL', 'https://{s}.example.com/{z}/{x}/{y}.png', 'MAP_TILES_URL must be an http or https'],
  ])('refuses %s=%s and names the variable', (name, value, message) => {
    expect(() => readConfig({ [name]: value })).toThrow(message)
  })

  test('does not show a password in the message about a wrong address', () => {
    expect(() => readConfig({ DATABASE_URL: 'mysql://root:hunter2@h/d' })).not.toThrow('hunter2')
  })

  test('serves the port of the specification on the loopback address by default', () => {
    expect(readConfig({})).toMatchObject({
      port: 8080,
      host: '127.0.0.1',
      databaseUrl: null,
      inviteOnlySignup: false,
    })
  })

  test('reads the names that people bring along, and its own name first', () => {
    expect(readConfig({ NC_DB_URL: 'pg://db:5432?u=ann&p=a%26b&d=base' }).databaseUrl).toBe(
      'postgres://ann:a%26b@db:5432/base',
    )
    expect(readConfig({ NC_PUBLIC_URL: 'https://old', PUBLIC_URL: 'https://new/' }).publicUrl).toBe(
      'https://new',
    )
  })

  test('takes white space for an empty value, which is the default or that of the other name', () => {
    const env = {
      HOST: ' ',
      PORT: '\t',
      HISTORY_DAYS: ' ',
      DATABASE_URL: ' ',
      NC_DB_URL: 'postgres://db/base',
    }
    expect(readConfig(env)).toMatchObject({
      host: '127.0.0.1',
      port: 8080,
      historyDays: 365,
      databaseUrl: 'postgres://db/base',
    })
  })
})
