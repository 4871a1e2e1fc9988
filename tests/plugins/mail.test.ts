import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { definePluginsTables } from '../../modules/plugins/tables.ts'
import { SECRET_MASK } from '../../src/core/plugins/index.ts'
import { sesPassword } from '../../src/mail/plugin-settings.ts'
import { refusalOf } from '../records/support.ts'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'
import { createBase } from '../support/factories.ts'
import { type SmtpRecorder, startSmtpServer } from '../support/smtp-server.ts'

const PASSWORD = 'hunter2-secret'

let smtp: SmtpRecorder
let app: TestApp
let admin: TestUser
let config: Record<string, string | number | boolean>

beforeAll(async () => {
  smtp = await startSmtpServer({ account: { user: 'sheaf', pass: PASSWORD } })
  app = await createTestApp()
  admin = await app.signUp()
  config = {
    from: 'Sheaf <sheaf@example.com>',
    host: '127.0.0.1',
    port: smtp.config.smtpPort,
    username: 'sheaf',
    password: PASSWORD,
    public_url: 'https://sheaf.example.com',
  }
})
afterAll(async () => {
  await app.stop()
  await smtp.go()
})
beforeEach(() => {
  smtp.mails.length = 0
  smtp.unknown.clear()
})

const plugins = () => app.trpc(admin.token).plugins
const stateOf = async (id: string) => (await plugins().list.query()).find((plugin) => plugin.id === id)
const sendsMail = async () => (await app.trpc().app.info.query()).sendsMail

describe('trpc.plugins.save of a mail service', () => {
  test('names every input that is wrong, and changes nothing', async () => {
    const call = plugins().save.mutate({ id: 'smtp', config: { host: 'a b', port: 99_999, secure: 'maybe' } })
    const error = await call.catch((caught) => caught)
    expect(error.data.httpStatus).toBe(400)
    expect(error.data.details.problems.map(({ key }: { key: string }) => key)).toEqual([
      'from',
      'host',
      'port',
      'secure',
    ])
    for (const bad of [[], null, 'x', 5, { ...config, from: 'a@example.com\r\nBcc: b@example.com' }]) {
      expect((await refusalOf(plugins().save.mutate({ id: 'smtp', config: bad }))).status).toBe(400)
    }
    expect((await refusalOf(plugins().save.mutate({ id: 'none', config: {} }))).status).toBe(404)
    expect(await sendsMail()).toBe(false)
  })

  test('refuses a server that does not accept the account, with its answer and without the password', async () => {
    const wrong = { ...config, password: 'wrong-password' }
    const { status, message } = await refusalOf(plugins().save.mutate({ id: 'smtp', config: wrong }))
    expect(status).toBe(400)
    expect(message).toContain('SMTP can’t be used: ')
    expect(message).toContain('No such account')
    expect(message).not.toContain('wrong-password')
    const closed = await refusalOf(plugins().save.mutate({ id: 'smtp', config: { ...config, port: 9 } }))
    expect(closed.message).toContain('ECONNREFUSED')
    expect(await sendsMail()).toBe(false)
    expect(await stateOf('smtp')).toMatchObject({ isActive: false, config: null })
  })

  test('sends mails from then on, and never shows the password', async () => {
    const base = await createBase(app, admin)
    const invite = () =>
      app.rest(admin.token).post(`/api/v2/meta/bases/${base.id}/users`, {
        email: `guest${crypto.randomUUID()}@example.com`,
        roles: 'viewer',
      })
    await invite()
    const saved = await plugins().save.mutate({ id: 'smtp', config })
    expect(saved).toMatchObject({ isActive: true, isFromEnvironment: false })
    expect(saved.config).toMatchObject({ host: '127.0.0.1', password: SECRET_MASK })
    expect(JSON.stringify(await plugins().list.query())).not.toContain(PASSWORD)
    expect(await sendsMail()).toBe(true)
    await invite()
    await app.kernel.mail.sendDue()
    const [mail] = await smtp.waitFor(1)
    expect(mail?.headers.from).toBe('Sheaf <sheaf@example.com>')
    expect(mail?.text).toContain('https://sheaf.example.com/dashboard/#/signup/')
    expect(smtp.mails).toHaveLength(1)
  })

  test('keeps a stored password that is left empty, but not for another server', async () => {
    await plugins().save.mutate({ id: 'smtp', config })
    for (const password of ['', SECRET_MASK]) {
      await plugins().save.mutate({ id: 'smtp', config: { ...config, password, from: 'b@example.com' } })
    }
    expect((await stateOf('smtp'))?.config).toMatchObject({ from: 'b@example.com', password: SECRET_MASK })
    const other = await startSmtpServer()
    const elsewhere = { ...config, password: SECRET_MASK, port: other.config.smtpPort }
    const { message } = await refusalOf(plugins().save.mutate({ id: 'smtp', config: elsewhere }))
    expect(message).toContain('Password has to be entered again')
    const tried = await refusalOf(plugins().test.mutate({ id: 'smtp', config: elsewhere }))
    expect(tried.message).toContain('Password has to be entered again')
    await other.go()
  })

  test('forgets a stored password with its user name, also for another server', async () => {
    await plugins().save.mutate({ id: 'smtp', config })
    const open = await startSmtpServer()
    const { username: _, ...withoutName } = config
    for (const anonymous of [withoutName, { ...withoutName, username: ' ' }]) {
      const changed = { ...anonymous, port: open.config.smtpPort, password: SECRET_MASK }
      const saved = await plugins().save.mutate({ id: 'smtp', config: changed })
      expect(Object.keys(saved.config ?? {})).not.toContain('password')
    }
    await open.go()
  })

  test('seals the configuration at rest', async () => {
    await plugins().save.mutate({ id: 'smtp', config })
    expect(await app.kernel.meta.holdsSealed()).toBe(true)
    const { meta } = app.kernel
    const rows = await meta.db.select().from(meta.tables(definePluginsTables).plugins)
    expect(rows).toHaveLength(1)
    expect(JSON.stringify(rows)).not.toContain(PASSWORD)
    expect(JSON.stringify(rows)).not.toContain('example.com')
  })

  test('uses the address of the request in mails where none is named', async () => {
    const { public_url: _, ...unnamed } = config
    await plugins().deactivate.mutate({ id: 'smtp', keepConfig: false })
    await plugins().save.mutate({ id: 'smtp', config: unnamed })
    expect(app.kernel.mail.addressOf('/x')).toBe(`${app.url}/dashboard/#/x`)
    await plugins().save.mutate({ id: 'smtp', config })
  })
})

describe('trpc.plugins.test of a mail service', () => {
  test('mails the caller through the given server, stores nothing, or tells its refusal', async () => {
    await plugins().deactivate.mutate({ id: 'smtp', keepConfig: false })
    const { test: run } = plugins()
    expect(await run.mutate({ id: 'smtp', config })).toEqual({ problem: null, recipient: admin.email })
    expect((await smtp.waitFor(1))[0]).toMatchObject({
      recipients: [admin.email],
      headers: { subject: 'Test mail from Sheaf' },
    })
    smtp.unknown.add(admin.email)
    expect((await run.mutate({ id: 'smtp', config })).problem).toContain('No such mailbox')
    expect(await stateOf('smtp')).toMatchObject({ isActive: false, config: null })
  })
})

describe('trpc.plugins.deactivate of a mail service', () => {
  test('stops mails at once; a mail that waits is sent by the next server', async () => {
    await plugins().save.mutate({ id: 'smtp', config })
    await smtp.go()
    const content = { subject: 'Waiting', blocks: [{ kind: 'text' as const, text: 'x' }] }
    const mail = { topic: 't', event: 'e', recipients: ['ann@example.com'], content }
    await app.kernel.mail.send(mail)
    await app.kernel.mail.sendDue()
    await plugins().deactivate.mutate({ id: 'smtp', keepConfig: true })
    expect(await sendsMail()).toBe(false)
    expect(await stateOf('smtp')).toMatchObject({ isActive: false, config: { host: '127.0.0.1' } })
    await expect(app.kernel.mail.send(mail)).rejects.toThrow('No mail service')
    await smtp.come()
    await app.kernel.mail.sendDue(Date.now() + 3_600_000)
    expect(smtp.mails).toHaveLength(0)
    await plugins().reactivate.mutate({ id: 'smtp' })
    await app.kernel.mail.sendDue(Date.now() + 7_200_000)
    expect((await smtp.waitFor(1))[0]?.headers.subject).toBe('Waiting')
  })
})

describe('the password of Amazon SES for SMTP', () => {
  test('is derived as Amazon documents it', () => {
    expect(sesPassword('some+secret+key', 'eu-central-1')).toBe(
      'BMXhUYlu5Z3gSXVQORxlVa7XPaz91aGWdfHxvkOZdWZ2',
    )
  })
})

describe('a mail server of the environment', () => {
  test('takes precedence, is shown without its password, and can be tried but not changed', async () => {
    const fixed = await createTestApp({ database: 'sqlite', config: smtp.config })
    const owner = await fixed.signUp()
    const trpc = fixed.trpc(owner.token).plugins
    const shown = (await trpc.list.query()).find(({ id }) => id === 'smtp')
    expect(shown).toMatchObject({
      isActive: true,
      isFromEnvironment: true,
      config: { host: '127.0.0.1', username: 'sheaf', password: SECRET_MASK },
    })
    expect(await refusalOf(trpc.save.mutate({ id: 'smtp', config }))).toMatchObject({
      status: 409,
      message: 'SMTP_HOST is set in the server’s environment and takes precedence',
    })
    expect((await refusalOf(trpc.deactivate.mutate({ id: 'smtp', keepConfig: false }))).status).toBe(409)
    expect(await trpc.testEnvironment.mutate({ category: 'email' })).toEqual({
      problem: null,
      recipient: owner.email,
    })
    expect(smtp.mails).toHaveLength(1)
    const { status } = await refusalOf(trpc.testEnvironment.mutate({ category: 'storage' }))
    expect(status).toBe(400)
    await fixed.stop()
  })
})
