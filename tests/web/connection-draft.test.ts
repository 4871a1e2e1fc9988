import { describe, expect, test } from 'bun:test'
import type { SslMode } from '../../src/core/ssl-mode.ts'
import { connectionInput, draftFromUrl, emptyDraft } from '../../web/features/sources/connection-draft.ts'

describe('draftFromUrl', () => {
  test.each<[string, SslMode]>([
    ['mysql://u:p@h/db?ssl-mode=REQUIRED', 'require'],
    ['mysql://u:p@h/db?ssl={"rejectUnauthorized":true}', 'require'],
    ['mysql://u:p@h/db?ssl-mode=VERIFY_IDENTITY', 'verify-full'],
    ['postgres://u:p@h/db?sslmode=no-verify', 'require'],
    ['postgres://u:p@h/db?sslmode=verify-ca', 'verify-ca'],
    ['postgres://u:p@h/db?ssl=true', 'require'],
    ['postgres://u:p@h/db?sslmode=allow', 'prefer'],
    ['postgres://u:p@h/db?ssl=false', 'disable'],
    ['postgres://u:p@h/db', 'disable'],
  ])('encrypts as %s asks for', (url, sslMode) => {
    expect(draftFromUrl(url)?.sslMode).toBe(sslMode)
  })

  test('takes an IPv6 address without its brackets', () => {
    expect(draftFromUrl('postgres://u:p@[2001:db8::1]:5432/db')).toMatchObject({
      host: '2001:db8::1',
      port: '5432',
    })
  })
})

describe('connectionInput', () => {
  test('sends a schema that was cleared, and none for databases without schemas', () => {
    expect(connectionInput(emptyDraft('pg'), true).connection).toMatchObject({ schema: '' })
    expect(connectionInput(emptyDraft('mysql2'), true).connection).not.toHaveProperty('schema')
  })
})
