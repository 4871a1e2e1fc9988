import { expect, test } from 'bun:test'
import { explainStorage } from '../src/storage-full.ts'
import { presentError } from '../src/wire/answer.ts'
import { createTestApp } from './support/app.ts'

const request = new Request('http://localhost/api/v2/tables/t/records')

test('a full disk is told in words, however deep the database said so', () => {
  const said = Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' })
  const wrapped = new Error('Failed query', { cause: new Error('call', { cause: said }) })
  const body = { error: 'STORAGE_FULL', message: 'The server’s disk is full. Nothing was changed.' }
  for (const error of [said, wrapped]) expect(presentError(error, request)).toEqual({ status: 507, body })
  const other = new Error('Failed query', { cause: new Error('something else') })
  expect(explainStorage(other)).toBe(other)
})

test('a full disk is told to the web app as well', async () => {
  const app = await createTestApp({ database: 'sqlite' })
  const { token } = await app.signUp()
  const full = Object.assign(new Error('no space left'), { code: 'ENOSPC' })
  app.kernel.meta.atomically = () => Promise.reject(full)
  const refused = app.trpc(token).bases.create.mutate({ title: 'CRM' })
  await expect(refused).rejects.toMatchObject({
    message: 'The server’s disk is full. Nothing was changed.',
    data: { appCode: 'STORAGE_FULL', httpStatus: 507 },
  })
  await app.stop()
})
