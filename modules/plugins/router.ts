import { member, router } from '../../src/trpc.ts'
import type { AuthService } from '../auth/index.ts'
import {
  ChannelsInput,
  DeactivateInput,
  EnvironmentTestInput,
  PluginRef,
  SaveInput,
  TestInput,
} from './input.ts'
import type { PluginsService } from './service.ts'

/** `trpc.plugins.*`: mail services, file stores and chat services. */
export const pluginsRouter = (plugins: PluginsService, auth: Pick<AuthService, 'siteUrl'>) =>
  router({
    list: member.query(({ ctx }) => plugins.list(ctx.actor)),
    storedFiles: member.query(({ ctx }) => plugins.storedFiles(ctx.actor)),
    save: member
      .input(SaveInput)
      .mutation(({ ctx, input }) =>
        plugins.save(ctx.actor, input.id, input.config, auth.siteUrl(ctx.request)),
      ),
    deactivate: member
      .input(DeactivateInput)
      .mutation(({ ctx, input }) => plugins.deactivate(ctx.actor, input.id, input)),
    reactivate: member
      .input(PluginRef)
      .mutation(({ ctx, input }) => plugins.reactivate(ctx.actor, input.id, auth.siteUrl(ctx.request))),
    test: member.input(TestInput).mutation(({ ctx, input }) => {
      const { id, config, to } = input
      return plugins.test(ctx.actor, id, config, { siteUrl: auth.siteUrl(ctx.request), to })
    }),
    testEnvironment: member
      .input(EnvironmentTestInput)
      .mutation(({ ctx, input }) => plugins.testEnvironment(ctx.actor, input.category)),
    channels: member
      .input(ChannelsInput)
      .query(({ ctx, input }) => plugins.channels(ctx.actor, input.baseId)),
  })
