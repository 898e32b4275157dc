export { casesOf, itemsOf, newSeed, seedsUpTo } from './seeds.ts';
