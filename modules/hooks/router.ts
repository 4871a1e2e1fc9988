import { member, reader, router } from '../../src/trpc.ts'
import type { ButtonsService } from './buttons.ts'
import {
  BaseRef,
  DeliveryList,
  DeliveryRef,
  HookActivation,
  HookRef,
  HookReorder,
  HookTest,
  HookUpdate,
  NewHook,
  PressInput,
  RetryInput,
  SampleInput,
  TableRef,
  TriggerInput,
} from './input.ts'
import type { HooksService } from './service.ts'

/** `trpc.hooks.*`: webhooks of tables and their deliveries. */
export const hooksRouter = (hooks: HooksService) =>
  router({
    list: member.input(TableRef).query(({ ctx, input }) => hooks.list(ctx.actor, input.tableId)),
    listOfBase: member.input(BaseRef).query(({ ctx, input }) => hooks.listOfBase(ctx.actor, input.baseId)),
    /** Active webhooks that may be triggered by hand. */
    manual: member.input(TableRef).query(({ ctx, input }) => hooks.manual(ctx.actor, input.tableId)),
    get: member.input(HookRef).query(({ ctx, input }) => hooks.get(ctx.actor, input.hookId)),
    create: member
      .input(NewHook)
      .mutation(({ ctx, input: { tableId, ...settings } }) => hooks.create(ctx.actor, tableId, settings)),
    update: member
      .input(HookUpdate)
      .mutation(({ ctx, input }) => hooks.update(ctx.actor, input.hookId, input.patch)),
    setActive: member
      .input(HookActivation)
      .mutation(({ ctx, input: { hookId, ...activation } }) =>
        hooks.setActive(ctx.actor, hookId, activation),
      ),
    duplicate: member.input(HookRef).mutation(({ ctx, input }) => hooks.duplicate(ctx.actor, input.hookId)),
    reorder: member
      .input(HookReorder)
      .mutation(({ ctx, input }) => hooks.reorder(ctx.actor, input.hookId, input.before)),
    delete: member.input(HookRef).mutation(({ ctx, input }) => hooks.delete(ctx.actor, input.hookId)),
    /** The key that signatures are checked with. */
    secret: member.input(HookRef).query(({ ctx, input }) => hooks.secret(ctx.actor, input.hookId)),
    renewSecret: member
      .input(HookRef)
      .mutation(({ ctx, input }) => hooks.renewSecret(ctx.actor, input.hookId)),
    test: member.input(HookTest).mutation(({ ctx, input }) => hooks.test(ctx.actor, input)),
    sample: member
      .input(SampleInput)
      .query(({ ctx, input }) => hooks.sample(ctx.actor, input.tableId, input)),
    deliveries: member.input(DeliveryList).query(({ ctx, input }) => hooks.deliveries(ctx.actor, input)),
    delivery: member
      .input(DeliveryRef)
      .query(({ ctx, input }) => hooks.delivery(ctx.actor, input.hookId, input.deliveryId)),
    retry: member
      .input(RetryInput)
      .mutation(({ ctx, input }) => hooks.retry(ctx.actor, input.hookId, input.deliveries)),
    trigger: member
      .input(TriggerInput)
      .mutation(({ ctx, input }) => hooks.trigger(ctx.actor, input.hookId, input.recordIds)),
  })

/** `trpc.buttons.*`: presses of button fields. */
export const buttonsRouter = (buttons: ButtonsService) =>
  router({
    press: reader.input(PressInput).mutation(({ ctx, input }) => buttons.press(ctx.actor, input)),
  })
