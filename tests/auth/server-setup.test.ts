import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { refusalOf } from '../records/support.ts'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'
import { type SmtpRecorder, startSmtpServer } from '../support/smtp-server.ts'

const SECRETS = {
  smtpPassword: 'hunter2-secret',
  s3SecretAccessKey: 's3-secret-key',
  s3AccessKeyId: 's3-access-key',
}

describe('trpc.app.setup', () => {
  let smtp: SmtpRecorder
  let app: TestApp
  let admin: TestUser

  beforeAll(async () => {
    smtp = await startSmtpServer({ account: { user: 'sheaf', pass: SECRETS.smtpPassword } })
    app = await createTestApp({
      config: {
        ...smtp.config,
        s3AccessKeyId: SECRETS.s3AccessKeyId,
        s3SecretAccessKey: SECRETS.s3SecretAccessKey,
        s3Bucket: 'attachments',
        s3Region: 'eu-west-1',
        s3Endpoint: 'http://127.0.0.1:9',
      },
    })
    admin = await app.signUp()
  })
  afterAll(async () => {
    await app.stop()
    await smtp.go()
  })

  test('is for super admins, as is the test mail', async () => {
    const other = await app.signUp()
    const trpc = app.trpc(other.token).app
    expect((await refusalOf(trpc.setup.query())).status).toBe(403)
    expect((await refusalOf(trpc.sendTestMail.mutate())).status).toBe(403)
    expect((await refusalOf(app.trpc().app.setup.query())).status).toBe(401)
    expect(smtp.mails).toEqual([])
  })

  test('shows mail and files as configured, and no secret', async () => {
    const setup = await app.trpc(admin.token).app.setup.query()
    expect(setup).toMatchObject({
      publicUrl: 'https://sheaf.example.com',
      mail: {
        host: '127.0.0.1',
        port: smtp.config.smtpPort,
        from: 'Sheaf <sheaf@example.com>',
        username: 'sheaf',
        encryption: 'starttls',
      },
      files: { kind: 's3', bucket: 'attachments', region: 'eu-west-1', endpoint: 'http://127.0.0.1:9' },
    })
    for (const secret of Object.values(SECRETS)) expect(JSON.stringify(setup)).not.toContain(secret)
  })

  test('a test mail goes to the caller, or the reason of the mail server is told', async () => {
    const { sendTestMail } = app.trpc(admin.token).app
    expect(await sendTestMail.mutate()).toEqual({ recipient: admin.email, problem: null })
    const [mail] = await smtp.waitFor(1)
    expect(mail).toMatchObject({ recipients: [admin.email], headers: { subject: 'Test mail from Sheaf' } })
    smtp.unknown.add(admin.email)
    expect((await sendTestMail.mutate()).problem).toContain('No such mailbox')
    await smtp.go()
    const away = await sendTestMail.mutate()
    expect(away.problem).not.toBeNull()
    expect(away.problem).not.toContain(SECRETS.smtpPassword)
    await smtp.come()
  })

  test('twenty test mails an hour are enough', async () => {
    const { sendTestMail } = app.trpc(admin.token).app
    let refused = 0
    for (let sent = 0; sent < 21 && refused === 0; sent++) {
      const outcome = await sendTestMail.mutate().catch((error) => error)
      if (outcome.data?.httpStatus === 429) refused = sent
    }
    expect(refused).toBeGreaterThan(10)
  })

  test('says so where nothing is configured', async () => {
    const plain = await createTestApp({ database: 'sqlite' })
    const owner = await plain.signUp()
    const trpc = plain.trpc(owner.token).app
    expect(await trpc.setup.query()).toEqual({
      publicUrl: null,
      mail: null,
      files: { kind: 'folder' },
      database: 'sqlite',
    })
    expect(await refusalOf(trpc.sendTestMail.mutate())).toMatchObject({
      status: 400,
      message: 'No mail server is configured. Set SMTP_HOST.',
    })
    await plain.stop()
  })
})
