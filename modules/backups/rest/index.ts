import { Elysia } from 'elysia'
import type { Kernel } from '../../../src/kernel.ts'
import { readBody, restBase } from '../../../src/wire/rest-base.ts'
import type { AuthService } from '../../auth/index.ts'
import { BaseRestoreBody, BaseRewindBody, RestoreAllBody } from '../input.ts'
import type { BackupsService } from '../service.ts'

interface Services {
  backups: BackupsService
  auth: AuthService
}

/** Backups over REST, for programs that start and watch them. */
export function backupsRest(kernel: Kernel, { backups, auth }: Services) {
  return new Elysia({ prefix: '/api/v2/meta/backups', tags: ['Backups'] })
    .use(restBase(kernel, auth))
    .get('/', async ({ actor }) => ({ list: await backups.list(actor) }), {
      detail: { summary: 'List the backups with the results of their restore tests' },
    })
    .post('/', async ({ actor }) => backups.run(actor), {
      detail: { summary: 'Start a backup; returns the id of its job' },
    })
    .post('/:backupId/test', async ({ actor, params }) => backups.test(actor, params.backupId), {
      detail: { summary: 'Start a restore test of a backup; returns the id of its job' },
    })
    .post(
      '/:backupId/restore',
      async ({ actor, params, body }) =>
        backups.restoreAll(actor, { ...params, ...readBody(RestoreAllBody, body) }),
      {
        detail: {
          summary:
            'Restore everything from a backup: it replaces all data, and the server restarts; returns the id of the job',
        },
      },
    )
    .post(
      '/bases/:baseId/restore',
      async ({ actor, params, body }) =>
        backups.restoreBaseAt(actor, { ...params, ...readBody(BaseRewindBody, body) }),
      {
        detail: {
          summary:
            'Restore one base with its records of an earlier time as a new base; returns the ids of the job and the base',
        },
      },
    )
    .post(
      '/:backupId/bases/:baseId/restore',
      async ({ actor, params, body }) =>
        backups.restoreBase(actor, { ...params, ...readBody(BaseRestoreBody, body ?? {}) }),
      {
        detail: {
          summary: 'Restore one base of a backup as a new base; returns the ids of the job and the base',
        },
      },
    )
}
