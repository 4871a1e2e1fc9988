import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type RunningServer, startServer } from '../../src/app.ts'
import { uploadOne } from '../records/attachments-support.ts'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'
import { startBucket } from '../support/bucket.ts'
import { createTrpcClient } from '../support/client.ts'
import { type SmtpRecorder, startSmtpServer } from '../support/smtp-server.ts'

describe('plugins of two servers with one PostgreSQL', () => {
  let app: TestApp
  let other: RunningServer
  let admin: TestUser
  let smtp: SmtpRecorder
  let bucket: ReturnType<typeof startBucket>

  beforeAll(async () => {
    smtp = await startSmtpServer()
    bucket = startBucket()
    app = await createTestApp({ database: 'postgres' })
    other = await startServer(app.config)
    admin = await app.signUp()
  })
  afterAll(async () => {
    await other.stop()
    await app.stop()
    await smtp.go()
    await bucket.stop()
  })

  const plugins = () => app.trpc(admin.token).plugins

  test('a mail server that one configures is used by the other with the next call', async () => {
    const config = { from: 'a@example.com', host: '127.0.0.1', port: smtp.config.smtpPort }
    for (const isOn of [true, false, true, false]) {
      if (isOn) await plugins().save.mutate({ id: 'smtp', config })
      else await plugins().deactivate.mutate({ id: 'smtp', keepConfig: false })
      expect(other.kernel.mail.isConfigured).toBe(isOn)
      expect((await createTrpcClient(other.url).app.info.query()).sendsMail).toBe(isOn)
    }
  })

  test('a bucket that one configures takes the files of the other, and both read them', async () => {
    const config = {
      bucket: 'files',
      region: 'eu-1',
      endpoint: bucket.url,
      access_key: 'key',
      access_secret: 'hush',
    }
    await plugins().save.mutate({ id: 'aws-s3', config })
    const path = `${(await uploadOne({ app: { ...app, url: other.url } }, admin.token, 'a.txt', 'a')).signedPath}`
    expect(bucket.objects.size).toBe(1)
    await plugins().deactivate.mutate({ id: 'aws-s3', keepConfig: false })
    for (const url of [app.url, other.url]) expect(await (await fetch(`${url}/${path}`)).text()).toBe('a')
  })

  test('a server that starts later knows the configuration and its buckets', async () => {
    const config = { from: 'a@example.com', host: '127.0.0.1', port: smtp.config.smtpPort }
    await plugins().save.mutate({ id: 'smtp', config })
    const later = await startServer(app.config)
    expect(later.kernel.mail.isConfigured).toBe(true)
    const stored = await createTrpcClient(later.url, admin.token).plugins.storedFiles.query()
    expect(stored.map(({ bucket: name, files }) => [name, files])).toEqual([
      [null, 0],
      ['files', 1],
    ])
    await later.stop()
  })
})
