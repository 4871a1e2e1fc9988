import { describe, expect, test } from 'bun:test'
import { citus } from '../../src/dialects/citus.ts'

/** What Citus 13 answers to `explain (format json)`, without the costs. */
const distributed = (plan: object) => [
  {
    'QUERY PLAN': JSON.stringify([
      {
        Plan: {
          'Node Type': 'Custom Scan',
          'Custom Plan Provider': 'Citus Adaptive',
          'Distributed Query': {
            Job: {
              'Task Count': 1,
              'Tasks Shown': 'All',
              Tasks: [{ Node: 'host=127.0.0.1 port=17602 dbname=sheaf', 'Remote Plan': [[{ Plan: plan }]] }],
            },
          },
        },
      },
    ]),
  },
]

describe('the plan of a query on a worker', () => {
  test('names the index as on the coordinator', () => {
    const plan = {
      'Node Type': 'Limit',
      Plans: [
        {
          'Node Type': 'Bitmap Heap Scan',
          'Relation Name': 'orders_102008',
          Plans: [
            {
              'Node Type': 'Bitmap Index Scan',
              'Index Name': 'sheaf_auto_1a_102008',
              'Index Cond': '(b = 3)',
            },
          ],
        },
      ],
    }
    expect(citus.readPlan(distributed(plan), 'orders')).toEqual({
      readsAll: false,
      sorts: false,
      indexes: ['sheaf_auto_1a'],
    })
  })

  test('tells that it reads the whole table and sorts it', () => {
    const plan = {
      'Node Type': 'Sort',
      Plans: [{ 'Node Type': 'Seq Scan', 'Relation Name': 'orders_2024_102008' }],
    }
    expect(citus.readPlan(distributed(plan), 'orders_2024')).toEqual({
      readsAll: true,
      sorts: true,
      indexes: [],
    })
  })
})
