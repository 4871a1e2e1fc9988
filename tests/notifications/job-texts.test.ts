import { describe, expect, test } from 'bun:test'
import { type Notification, notificationText } from '../../src/core/notifications.ts'

const endedJob = (
  kind: string,
  subject: string | null = null,
  error: string | null = null,
): Notification => ({
  id: 'n1',
  kind: 'jobEnded',
  at: '2026-01-01T00:00:00.000Z',
  isRead: false,
  count: 1,
  isAvailable: true,
  actor: null,
  base: null,
  table: null,
  view: null,
  field: null,
  record: null,
  fields: [],
  detail: { job: { kind, subject, error } },
})

describe('the notification of a job that has ended', () => {
  test.each([
    ['backup', 'The backup has finished'],
    ['backup-test', 'The restore test of a backup has finished'],
    ['backup-restore-base', 'The restore of a base has finished'],
    ['something.else', 'A background job has finished'],
  ])('names %s, which has no subject', (kind, text) => {
    expect(notificationText(endedJob(kind))).toBe(text)
  })

  test('says why it has failed', () => {
    expect(notificationText(endedJob('backup', null, 'No room'))).toBe('The backup has failed: No room')
    expect(notificationText(endedJob('import', 'people.csv', 'No room'))).toBe(
      'Import of people.csv has failed: No room',
    )
  })
})
