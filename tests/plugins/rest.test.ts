import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { SECRET_MASK } from '../../src/core/plugins/index.ts'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'
import { startBucket } from '../support/bucket.ts'
import { type SmtpRecorder, startSmtpServer } from '../support/smtp-server.ts'

const PATH = '/api/v1/db/meta/plugins'

let app: TestApp
let admin: TestUser
let smtp: SmtpRecorder
let bucket: ReturnType<typeof startBucket>
let input: Record<string, unknown>

beforeAll(async () => {
  smtp = await startSmtpServer()
  bucket = startBucket()
  app = await createTestApp()
  admin = await app.signUp()
  input = {
    from: 'sheaf@example.com',
    host: '127.0.0.1',
    name: 'example.com',
    port: String(smtp.config.smtpPort),
    secure: false,
    ignoreTLS: false,
  }
})
afterAll(async () => {
  await app.stop()
  await smtp.go()
  await bucket.stop()
})

const rest = () => app.rest(admin.token)
const patch = (id: string, body: object) => rest().patch(`${PATH}/${id}`, body)
const asText = (value: unknown) => JSON.stringify(value)

describe('the plugins of REST', () => {
  test('are for super admins only', async () => {
    const other = await app.signUp()
    for (const path of [PATH, `${PATH}/webhook`, `${PATH}/smtp`, `${PATH}/smtp/status`]) {
      expect((await app.rest(other.token).get(path)).status).toBe(403)
      expect((await app.rest().get(path)).status).toBe(401)
    }
    expect((await app.rest(other.token).patch(`${PATH}/smtp`, { active: 'x' })).status).toBe(403)
    expect((await app.rest(other.token).post(`${PATH}/test`, {})).status).toBe(403)
  })

  test('are listed with their input schemas', async () => {
    const { body } = await rest().get(PATH)
    const titles = body.list.map(({ title }: { title: string }) => title)
    expect(titles).toEqual([
      'SMTP',
      'SES',
      'S3',
      'Minio',
      'Spaces',
      'Backblaze',
      'Vultr',
      'Ovh',
      'Linode',
      'UpCloud',
      'Scaleway',
      'Cloudflare R2',
      'Slack',
      'Microsoft Teams',
      'Discord',
      'Mattermost',
      'Telegram',
      'Twilio',
      'Whatsapp Twilio',
    ])
    const slack = body.list.find(({ id }: { id: string }) => id === 'slack')
    expect(Object.keys(slack)).toEqual([
      'id',
      'title',
      'description',
      'active',
      'rating',
      'version',
      'docs',
      'status',
      'status_details',
      'logo',
      'icon',
      'tags',
      'category',
      'input_schema',
      'input',
      'creator',
      'creator_website',
      'price',
      'created_at',
      'updated_at',
    ])
    expect(slack).toMatchObject({
      active: false,
      status: 'install',
      category: 'Chat',
      tags: 'Chat',
      input: null,
    })
    const { array, items, actions } = JSON.parse(slack.input_schema)
    expect(array).toBe(true)
    expect(items.map(({ key, type, required }: Record<string, unknown>) => [key, type, required])).toEqual([
      ['channel', 'SingleLineText', true],
      ['webhook_url', 'Password', true],
    ])
    expect(actions.map(({ key, actionType }: Record<string, unknown>) => [key, actionType])).toEqual([
      ['test', 'TEST'],
      ['save', 'SUBMIT'],
    ])
    const twilio = body.list.find(({ id }: { id: string }) => id === 'twilio')
    expect([twilio.category, twilio.tags]).toEqual(['Twilio', 'Chat'])
    expect((await rest().get('/api/v2/meta/plugins')).body.list).toEqual(body.list)
  })

  test('that webhooks post to by the name of a channel have a list of their own', async () => {
    const { list } = (await rest().get(`${PATH}/webhook`)).body
    expect(list.map(({ id }: { id: string }) => id)).toEqual([
      'slack',
      'ms-teams',
      'discord',
      'mattermost',
      'telegram',
    ])
  })

  test('are read one by one; an unknown one is empty', async () => {
    expect((await rest().get(`${PATH}/smtp`)).body).toMatchObject({ id: 'smtp', category: 'Email' })
    const unknown = await fetch(`${app.url}${PATH}/none`, { headers: { 'xc-auth': admin.token } })
    expect([unknown.status, await unknown.text()]).toEqual([200, ''])
  })
})

describe('PATCH /api/v1/db/meta/plugins/{pluginId}', () => {
  test('refuses what is no configuration, and changes nothing', async () => {
    const refused: [object, string | undefined][] = [
      [{ active: true, input: { a: 1 } }, 'Invalid request body'],
      [{ active: 'yes' }, 'Invalid request body'],
      [{ active: true, input: 'not json' }, undefined],
      [{ active: true, input: '{}' }, 'Sender is required'],
      [{ active: true, input: asText({ ...input, port: '9' }) }, undefined],
      [{ active: true }, 'The plugin has no configuration'],
      [{ active: true, input: `${'['.repeat(300)}${']'.repeat(300)}` }, undefined],
    ]
    for (const [body, msg] of refused) {
      const answer = await patch('smtp', body)
      expect([body, answer.status]).toEqual([body, 400])
      if (msg !== undefined) expect(answer.body.msg).toBe(msg)
    }
    const unknown = await patch('none', { active: true, input: '{}' })
    expect([unknown.status, unknown.body]).toEqual([
      404,
      { error: 'GENERIC_NOT_FOUND', message: 'Plugin ‘none’ not found' },
    ])
    expect((await rest().get(`${PATH}/smtp`)).body).toMatchObject({ active: false, input: null })
  })

  test('configures a plugin, masks its secrets, and takes it out of use', async () => {
    const { status, body } = await patch('smtp', {
      active: true,
      input: asText({ ...input, password: 'hush' }),
    })
    expect(status).toBe(200)
    expect(body).toMatchObject({ id: 'smtp', active: true })
    expect(JSON.parse(body.input)).toMatchObject({
      from: 'sheaf@example.com',
      port: smtp.config.smtpPort,
      password: SECRET_MASK,
      public_url: app.url,
    })
    expect(body.updated_at).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+00:00$/)
    expect(await statusOf('SMTP')).toBe('true')
    // As a client does that reads a plugin, changes a value and writes it back.
    const again = { ...JSON.parse(body.input), from: 'other@example.com' }
    expect((await patch('smtp', { active: true, input: asText(again) })).status).toBe(200)
    expect((await patch('smtp', { active: false })).body).toMatchObject({ active: false })
    expect((await patch('smtp', { active: true })).body.active).toBe(true)
    expect((await patch('smtp', { active: false, input: null })).body).toMatchObject({
      active: false,
      input: null,
    })
    expect(await statusOf('smtp')).toBe('false')
  })
})

/** The bare answer of the status of a plugin, by its id or title. */
async function statusOf(name: string): Promise<string> {
  const answer = await fetch(`${app.url}${PATH}/${name}/status`, { headers: { 'xc-auth': admin.token } })
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  return answer.text()
}

describe('GET /api/v1/db/meta/plugins/{pluginId}/status', () => {
  test('answers false for unknown plugins', async () => {
    expect(await statusOf('nothing')).toBe('false')
  })
})

describe('POST /api/v1/db/meta/plugins/test', () => {
  const run = (title: string, category: string, given: unknown) =>
    rest().post(`${PATH}/test`, { title, category, input: asText(given) })

  test('names what is missing', async () => {
    const { status, body } = await rest().post(`${PATH}/test`, {})
    expect(status).toBe(400)
    expect(body.errors.map(({ params }: { params: object }) => params)).toEqual([
      { missingProperty: 'title' },
      { missingProperty: 'input' },
      { missingProperty: 'category' },
    ])
    expect((await run('None', 'Email', {})).status).toBe(404)
  })

  test('answers true, or tells why the test failed', async () => {
    const answer = await run('SMTP', 'Email', input)
    expect([answer.status, answer.body]).toEqual([200, true])
    expect(smtp.mails.at(-1)?.recipients).toEqual([admin.email])
    const away = await run('SMTP', 'Email', { ...input, port: 9 })
    expect(away.status).toBe(400)
    expect(away.body.msg).toStartWith('SMTP test failed: ')
    const s3 = {
      bucket: 'files',
      region: 'eu-1',
      endpoint: bucket.url,
      access_key: 'key',
      access_secret: 'hush',
      acl: 'private',
      force_path_style: true,
    }
    expect((await run('S3', 'Storage', s3)).body).toBe(true)
    expect(bucket.objects.size).toBe(0)
    bucket.refuse('NoSuchBucket')
    expect((await run('S3', 'Storage', s3)).body.msg).toContain('NoSuchBucket')
    bucket.refuse('')
  })
})

describe('invitations', () => {
  test('name the missing plugin until a mail service is configured', async () => {
    const { body } = await rest().post('/api/v1/users', { email: 'guest@example.com' })
    const { list } = (await rest().get('/api/v1/users')).body
    const guest = list.find(({ email }: { email: string }) => email === 'guest@example.com')
    const resend = () => rest().post(`/api/v1/users/${guest.id}/resend-invite`, {})
    expect(body.invite_token).toBeString()
    expect((await resend()).body.msg).toContain('No Email Plugin is found')
    await patch('smtp', { active: true, input: asText(input) })
    expect((await resend()).body.msg).toBe('The invitation has been sent to the user')
    await app.kernel.mail.sendDue()
    expect(smtp.mails.at(-1)?.recipients).toEqual(['guest@example.com'])
  })
})
