import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CatalogueError, readCatalogue } from './read-catalogue.ts';

const file = (...routes: (readonly [id: string, aliases: string])[]) => `providers: {}
routes:
${routes.map(([id, aliases]) => `  - { id: ${id}, aliases: ${aliases}, provider: demo, upstream_model: m, price_pkr_per_million: { input: 1, output: 2 }, max_output_tokens: 10 }`).join('\n')}
`;

const issues = (...routes: (readonly [id: string, aliases: string])[]) => {
  try {
    readCatalogue(file(...routes), 'f.yaml');
    return [];
  } catch (error) {
    assert.ok(error instanceof CatalogueError);
    return error.issues.map(({ line, path, message }) => `${line} ${path}: ${message}`);
  }
};

describe('the names of routes', () => {
  it('are ids and aliases, each of one route', () => {
    const { routes } = readCatalogue(file(['a/1', '[one, eins]'], ['a/2', '[]']), 'f.yaml');
    assert.deepEqual(
      routes.map(({ aliases }) => aliases),
      [['eins', 'one'], []],
    );
  });

  it('name every conflict with its line', () => {
    assert.deepEqual(
      issues(['a/1', '[a/2, x]'], ['a/2', '[x, y, y, a/2]'], ['a/3', '[demo/echo]'], ['a/1', '[z]']),
      [
        '3 routes.0.aliases.0: the alias a/2 is the id of another route',
        '4 routes.1.aliases.0: the alias x is one of the route a/1 already',
        '4 routes.1.aliases.2: the alias y is named twice',
        '4 routes.1.aliases.3: the alias a/2 is the id of the route itself',
        '5 routes.2.aliases.0: the alias demo/echo is the id of the built-in route',
        '6 routes.3.id: the route a/1 is named twice',
      ],
    );
  });

  it('are printable and not too many', () => {
    assert.match(issues(['a/1', '["a b"]']).join(), /aliases\.0: must be 1 to 200 printable ASCII/);
    assert.match(issues(['a/1', `[${'x'.repeat(201)}]`]).join(), /must be 1 to 200 printable/);
    const many = Array.from({ length: 65 }, (_, index) => `a${index}`).join();
    assert.match(issues(['a/1', `[${many}]`]).join(), /aliases: must/);
  });

  it('are at most 10,000 aliases in a file', () => {
    const routes = (more: string) =>
      Array.from({ length: 200 }, (_, index) => {
        const aliases = Array.from({ length: 50 }, (_, place) => `a${index * 50 + place}`).join();
        return [`m/${index}`, `[${aliases}${index === 199 ? more : ''}]`] as const;
      });
    assert.deepEqual(issues(...routes('')), []);
    assert.deepEqual(issues(...routes(', z, y')), [
      '202 routes.199.aliases.50: is one too many; a file may have at most 10000 aliases',
    ]);
  });
});
