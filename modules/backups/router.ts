import { member, router } from '../../src/trpc.ts'
import { BackupRef, BaseRestoreRef, BaseRewindRef, RestoreAllRef, SettingsInput } from './input.ts'
import type { BackupsService } from './service.ts'

/** `trpc.backups.*`: backups of the installation. */
export const backupsRouter = (backups: BackupsService) =>
  router({
    overview: member.query(({ ctx }) => backups.overview(ctx.actor)),
    list: member.query(({ ctx }) => backups.list(ctx.actor)),
    save: member.input(SettingsInput).mutation(({ ctx, input }) => backups.save(ctx.actor, input)),
    run: member.mutation(({ ctx }) => backups.run(ctx.actor)),
    test: member.input(BackupRef).mutation(({ ctx, input }) => backups.test(ctx.actor, input.backupId)),
    restoreAll: member
      .input(RestoreAllRef)
      .mutation(({ ctx, input }) => backups.restoreAll(ctx.actor, input)),
    restoreBase: member
      .input(BaseRestoreRef)
      .mutation(({ ctx, input }) => backups.restoreBase(ctx.actor, input)),
    restoreBaseAt: member
      .input(BaseRewindRef)
      .mutation(({ ctx, input }) => backups.restoreBaseAt(ctx.actor, input)),
  })
