import { anyone, member, router } from '../../src/trpc.ts'
import {
  ListInput,
  MarkInput,
  NotificationRef,
  SettingsInput,
  UnsubscribeInput,
  WatchesInput,
  WatchInput,
} from './input.ts'
import type { NotificationsService } from './service.ts'

/** `trpc.notifications.*`: the actor's notifications, how they want them, and what they watch. */
export const notificationsRouter = (notifications: NotificationsService) =>
  router({
    list: member.input(ListInput).query(({ ctx, input }) => notifications.list(ctx.actor, input)),
    unread: member.query(({ ctx }) => notifications.unread(ctx.actor)),
    mark: member
      .input(MarkInput)
      .mutation(({ ctx, input }) => notifications.mark(ctx.actor, input.ids, input.isRead)),
    markAllRead: member.mutation(({ ctx }) => notifications.markAllRead(ctx.actor)),
    remove: member
      .input(NotificationRef)
      .mutation(({ ctx, input }) => notifications.remove(ctx.actor, input.id)),
    settings: member.query(({ ctx }) => notifications.settings.get(ctx.actor)),
    setSettings: member
      .input(SettingsInput)
      .mutation(({ ctx, input: { baseId, ...patch } }) =>
        notifications.setSettings(ctx.actor, baseId, patch),
      ),
    watches: member
      .input(WatchesInput)
      .query(({ ctx, input }) => notifications.watches.list(ctx.actor, input?.timeZone)),
    /** What one watches, for buttons and menus. */
    watched: member.query(({ ctx }) => notifications.watches.keys(ctx.actor)),
    watch: member
      .input(WatchInput)
      .mutation(({ ctx, input }) => notifications.watch(ctx.actor, input.target, input.isOn)),
    // For the link in a mail, which needs no session.
    unsubscribe: anyone
      .input(UnsubscribeInput)
      .mutation(({ input }) => notifications.unsubscribe(input.token)),
  })
