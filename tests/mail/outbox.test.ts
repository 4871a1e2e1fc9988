import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServer } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { openSmtpChannel } from '../../src/mail/smtp-channel.ts'
import { createTestApp, META_DATABASES } from '../support/app.ts'
import { startCommitProxy } from '../support/database-proxy.ts'
import { createDatabase } from '../support/servers.ts'
import { type SmtpRecorder, startSmtpServer } from '../support/smtp-server.ts'

const MAIL = { subject: 'Hello', blocks: [{ kind: 'text' as const, text: 'Hello there.' }] }

let smtp: SmtpRecorder
beforeAll(async () => {
  smtp = await startSmtpServer({ account: { user: 'sheaf', pass: 'hunter2-secret' } })
})
afterAll(() => smtp.go())

describe('the mail server of the configuration', () => {
  test('needs an address to send from, and one that links lead to', () => {
    const host = { NC_SMTP_HOST: 'mail.example.com' }
    expect(() => readConfig({ ...host, PUBLIC_URL: 'https://x.example.com' })).toThrow(
      'SMTP_FROM must be set',
    )
    expect(() => readConfig({ ...host, NC_SMTP_FROM: 'a@example.com' })).toThrow('PUBLIC_URL must be set')
    for (const from of [
      'nobody',
      'a@example.com\nBcc: b@example.com',
      'A, B <a@example.com>',
      'A <a@example.com>, <b@example.com>',
    ]) {
      expect(() => readConfig({ SMTP_FROM: from })).toThrow('SMTP_FROM must be an e-mail address')
    }
    const smtpFrom = 'Sheaf <sheaf@example.com>'
    expect(readConfig({ NC_SMTP_FROM: smtpFrom, NC_SMTP_SECURE: 'true' })).toMatchObject({
      smtpFrom,
      smtpSecure: true,
      smtpHost: null,
      smtpPort: 587,
    })
  })

  test('does not tell its password where it refuses it', async () => {
    const config = { ...readConfig({}), ...smtp.config, smtpPassword: 'wrong-password' }
    const delivery = await openSmtpChannel(config)?.send({
      id: 'a',
      recipient: 'a@example.com',
      content: MAIL,
    })
    expect(delivery).toMatchObject({ outcome: 'away', reason: expect.stringContaining('No such account') })
    expect(JSON.stringify(delivery)).not.toContain('wrong-password')
  })
})

describe.each(META_DATABASES)('the outbox on %s', (database) => {
  test('keeps what could not be sent over a restart, and sends nothing that is too late', async () => {
    const home = await createHome(database)
    const first = await startServer({ ...home.config, ...smtp.config })
    const { mail } = first.kernel
    const about = { topic: 'test', event: 'one', content: MAIL }
    await smtp.go()
    await mail.send({ ...about, recipients: ['late@example.com'], expiresAt: Date.now() + 1000 })
    await mail.send({ ...about, recipients: ['ann@example.com', 'ben@example.com'] })
    await mail.sendDue()
    await first.stop()
    await smtp.come()
    smtp.mails.length = 0
    const second = await startServer({ ...home.config, ...smtp.config })
    await second.kernel.mail.sendDue(Date.now() + 120_000)
    await second.stop()
    await home.remove()
    const sent = smtp.mails.map(({ recipients }) => recipients[0]).sort()
    expect(sent).toEqual(['ann@example.com', 'ben@example.com'])
  })
})

/** A data folder, and a database, that outlive a server. */
async function createHome(database: (typeof META_DATABASES)[number]) {
  const dataDir = mkdtempSync(join(tmpdir(), 'sheaf-mail-'))
  const postgres = database === 'postgres' ? await createDatabase('postgres') : null
  const environment = { PORT: '0', DATA_DIR: dataDir, LOG_LEVEL: 'silent', DATABASE_URL: postgres?.url }
  return {
    config: readConfig(environment),
    async remove() {
      await postgres?.drop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

test('of several servers over one database only one sends a mail', async () => {
  const app = await createTestApp({ database: 'postgres', config: smtp.config })
  const others = await Promise.all([startServer(app.config), startServer(app.config)])
  const recipients = Array.from({ length: 12 }, (_, at) => `p${at}@example.com`)
  smtp.mails.length = 0
  try {
    await app.kernel.mail.send({ topic: 'test', event: 'one', recipients, content: MAIL })
    await Promise.all([app, ...others].map(({ kernel }) => kernel.mail.sendDue()))
    await smtp.waitFor(12)
    await app.kernel.mail.sendDue(Date.now() + 60_000)
    expect(smtp.mails.map((mail) => mail.recipients[0]).sort()).toEqual(recipients.sort())
  } finally {
    await Promise.all(others.map((other) => other.stop()))
    await app.stop()
  }
})

test('a mail is sent once, also if the database goes away before that is stored', async () => {
  const home = await createHome('postgres')
  const proxy = await startCommitProxy(home.config.databaseUrl ?? '')
  const server = await startServer({ ...home.config, ...smtp.config, databaseUrl: proxy.url })
  const { mail } = server.kernel
  smtp.mails.length = 0
  proxy.cutAt('before', { text: /update "mails" set "(content|status)"/ })
  await mail.send({ topic: 'test', event: 'one', recipients: ['ann@example.com'], content: MAIL })
  await mail.sendDue()
  expect(proxy.cuts()).toBe(1)
  // The lease is over by then.
  await mail.sendDue(Date.now() + 11 * 60_000)
  expect(smtp.mails.map(({ recipients }) => recipients[0])).toEqual(['ann@example.com'])
  await server.stop()
  await proxy.stop()
  await home.remove()
})
